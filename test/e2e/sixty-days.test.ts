// Sixty days of waiting and the whole callback schedule, in seconds: the time-skipping server moves Temporal's clock, the
// sandbox's manual clock moves the provider's (P2 §6.5).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Trustflow } from "../../src/client.js";
import { freePorts } from "../../src/local/processes/free-ports.js";
import { startRole } from "../../src/local/stack/role.js";
import type { Role, RoleName } from "../../src/local/stack/role.js";
import { cleanEnv } from "../../src/local/stack/stack-env.js";
import { startSandbox } from "../../src/sandbox/sandbox.js";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { sandboxControl } from "../../src/sandbox/control/client.js";
import { registerSearchAttributes } from "../../src/temporal/visibility/search-attributes.js";
import { letterInput } from "../processes/send-postal/inputs.js";
import { skippingEnv, startSkippingServer } from "../harness/outages/time.js";
import { testDatabase } from "../harness/stack/postgres.js";
import type { TestDatabase } from "../harness/stack/postgres.js";
import { statusWhere } from "../harness/stack/stack.js";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let temporal: TestWorkflowEnvironment;
let database: TestDatabase;
let sandbox: Sandbox;
let client: Trustflow;
let directory: string;
let roleEnvironment: NodeJS.ProcessEnv;
const roles: Role[] = [];
const before = { ...process.env };

async function start(name: RoleName): Promise<void> {
  const env = { ...cleanEnv(), ...roleEnvironment };
  roles.push(
    await startRole({
      name,
      env,
      cwd: process.cwd(),
      logDirectory: directory,
      graceMs: 3_000,
      onDeath: () => undefined,
    }),
  );
}

/** Both clocks, hour by hour, with a moment of real time for what travels between them. */
async function pass(ms: number, stepMs = 6 * hourMs): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    await sandbox.clock.advance(stepMs);
    await temporal.sleep(stepMs);
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "trustflow-sixty-days-"));
  await writeFile(join(directory, "trustflow.toml"), "");
  [temporal, database, sandbox] = await Promise.all([
    startSkippingServer(),
    testDatabase(),
    startSandbox({ speed: "manual" }),
  ]);
  await registerSearchAttributes(temporal.connection, "default");
  const [receiverPort] = await freePorts(1);
  roleEnvironment = {
    ...skippingEnv({ directory, database, temporal, sandbox }),
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: `http://127.0.0.1:${receiverPort}`,
    TRUSTFLOW_RECEIVER__PORT: String(receiverPort),
  };
  Object.assign(process.env, roleEnvironment);
  client = await Trustflow.connect();
  await Promise.all([start("worker"), start("relay")]);
}, 120_000);

afterAll(async () => {
  await Promise.all(roles.map((role) => role.stop()));
  await client?.close();
  await sandbox?.close();
  await temporal?.teardown();
  await database?.close();
  await rm(directory, { recursive: true, force: true });
  process.env = before;
}, 60_000);

const slow = { settings: {}, options: { certificationLevel: "Advanced" } };

test("a letter delivered after sixty days ends as delivered, heard of by callbacks or not at all", async () => {
  const [heard, unheard] = await Promise.all([
    client.sendPostal("heard", letterInput("heard", "delivered-after-60-days", slow)),
    client.sendPostal(
      "unheard",
      letterInput("unheard", "delivered-after-60-days,callbacks-lost", slow),
    ),
  ]);
  for (const handle of [heard, unheard]) {
    await statusWhere(handle, ({ phase }) => phase === "tracking");
  }

  // For two days nobody answers: the first callback meets the whole schedule, and is dropped after its ninth retry.
  const control = sandboxControl(sandbox.url);
  await pass(3 * dayMs, hourMs);
  const first = (await control.callbacks()).newest.filter(
    ({ kind, intent }) => kind === "Processed" && intent === "heard",
  );
  const attempts = first.toSorted((a, b) => a.attempt - b.attempt);
  const delays = attempts.map(
    ({ at }, index) => (Date.parse(at) - Date.parse(attempts[index - 1]?.at ?? at)) / 1_000,
  );
  expect(delays).toEqual([0, 30, 30, 300, 900, 1_800, 3_600, 18_000, 54_000, 108_000]);
  expect(attempts.map(({ result }) => result)).toEqual([...Array(9).fill("retrying"), "dropped"]);
  await start("receiver");

  await pass(58 * dayMs);
  expect((await heard.status()).phase).toBe("tracking");
  await pass(12 * dayMs);
  const results = await Promise.all([heard.result(), unheard.result()]);
  expect(results.map(({ outcome }) => outcome)).toEqual(["delivered", "delivered"]);
  const affidavits = results.map(({ documents }) =>
    documents.map(({ uniqueId, kind }) => [kind, uniqueId !== undefined]),
  );
  expect(affidavits[0]).toEqual(affidavits[1]);
  const events = results[0]?.timeline
    .filter(({ source }) => source === "callback")
    .map(({ event }) => event);
  expect(events).toEqual(expect.arrayContaining(["Delivered"]));
  expect(events).not.toContain("Processed");
  expect(results[1]?.timeline.some(({ source }) => source === "callback")).toBe(false);

  const { byIntent, duplicates } = await control.ledger();
  expect(byIntent).toMatchObject({
    heard: { "evi-post.submit": 1 },
    unheard: { "evi-post.submit": 1 },
  });
  expect(duplicates).toEqual([]);

  // Ten weeks of polling every six hours are retries by the server: they leave no events.
  const history = await client.temporal.workflow.getHandle(unheard.workflowId).fetchHistory();
  expect(history.events?.length).toBeLessThan(120);
}, 180_000);

test("an hour without an answer raises attention, and a person who knows that it happened moves it on", async () => {
  const control = sandboxControl(sandbox.url);
  const { id: fault } = await control.addFault({
    operation: "evi-post.query",
    kind: "reject",
    status: 503,
    times: "always",
  });
  const handle = await client.sendPostal(
    "lost",
    letterInput("lost", "delivered,submit=cut-after-commit", slow),
  );
  await pass(2 * hourMs, hourMs / 4);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({
    kind: "unavailable",
    decisions: ["retry", "happened", "abandon"],
  });

  const [item] = (await control.items({ intent: "lost" })).items;
  const uniqueId = item?.id ?? "";
  const resolution = {
    attention: attention?.id ?? "",
    decision: "happened",
    by: "Ada",
    result: { uniqueId },
  } as const;
  expect(await handle.resolve(resolution)).toEqual({ answer: "resolved" });
  const status = await statusWhere(handle, ({ phase }) => phase === "tracking");
  expect(status.references).toEqual({ uniqueId });
  expect(status.timeline).toContainEqual(expect.objectContaining({ source: "person", by: "Ada" }));

  await control.removeFault(fault);
  await pass(20 * dayMs);
  expect((await handle.result()).outcome).toBe("delivered");
  expect((await control.ledger("lost")).byIntent).toEqual({ lost: { "evi-post.submit": 1 } });
}, 180_000);
