// Temporal goes up from the oldest release that Trustflow runs on to that of the deployment, one minor release at a time, under load
// (docs/operations/upgrade.md, "Temporal"): no process is lost, none sends twice.
import { afterAll, beforeAll, expect, test } from "vitest";
import { join } from "node:path";
import { startPostgres, type PostgresServer } from "../../packages/dev/src/servers/postgres.js";
import { buildPrograms, olderTemporals } from "../compose/stand-ins/programs.js";
import { eventually } from "../harness/outages/wait.js";
import { inboxSettled } from "../harness/stack/inbox.js";
import { startTestStack, type TestStack } from "../harness/stack/stack.js";
import { temporaryFolder } from "../harness/temporary.js";
import { Load } from "./load.js";
import { startTemporalCluster, type TemporalCluster } from "./temporal-cluster.js";

const [oldest = "", ...between] = olderTemporals;
const LIMIT_MS = 600_000;
/** Ends before and after each upgrade. */
const ENDS = 40;

let postgres: PostgresServer;
let cluster: TemporalCluster;
let system: TestStack;
let load: Load;

beforeAll(async () => {
  await buildPrograms((line) => console.error(line), [...olderTemporals, "temporal"]);
  const directory = await temporaryFolder();
  postgres = await startPostgres({ directory: join(directory, "postgres") });
  const { url: databaseUrl } = postgres;
  cluster = await startTemporalCluster({ directory, databaseUrl, of: 2, release: oldest });
  system = await startTestStack({
    databaseUrl,
    // Codes and tokens get old by the clock of those who use them.
    sandboxPersonTime: "real",
    env: { TEMPORAL_ADDRESS: cluster.address },
  });
  load = new Load(system);
}, 3_600_000);
afterAll(async () => {
  load?.close();
  await system?.close();
  await cluster?.close();
  await postgres?.close();
}, 120_000);

test(`from ${oldest} by ${between.join(" and ")} to the release of the deployment`, async () => {
  let isOver = false;
  const running = load.run(() => isOver);
  running.catch(() => undefined);
  const endMore = async () => {
    const from = load.ended;
    await eventually("processes end", () => load.ended >= from + ENDS, LIMIT_MS);
  };
  await endMore();
  for (const release of [...between, "temporal"]) {
    await cluster.upgrade(release);
    await endMore();
  }
  isOver = true;
  await running;
  await inboxSettled(system, LIMIT_MS);
  expect(load.problems).toEqual([]);
  expect(await load.excess()).toEqual([]);
  const open = await system.client.temporal.workflow.count("ExecutionStatus = 'Running'");
  expect(open.count).toBe(0);
}, 3_600_000);
