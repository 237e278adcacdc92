// A day on which everything fails (docs/testing.md, "Game day"): Temporal's services and the roles, two of each, on one PostgreSQL, with
// processes of all kinds meanwhile. At the end each has ended as its provider says, with one effect for each intent.
import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkflowNotFoundError } from "@temporalio/client";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { workflowIdOf } from "../../src/contracts/shared/names.js";
import { eventIdOf } from "../../src/providers/errors/outside.js";
import { startPostgres, type PostgresServer } from "../../packages/dev/src/servers/postgres.js";
import type { Role } from "../../packages/dev/src/stack/role.js";
import { buildPrograms } from "../compose/stand-ins/programs.js";
import { hostOf, startSecondRoles } from "../harness/outages/roles.js";
import { eventually } from "../harness/outages/wait.js";
import { examine } from "../harness/histories/replayed.js";
import { baseBackup, copy } from "../harness/stack/base-backup.js";
import { startHop, type Hop } from "../harness/stack/hop.js";
import { inboxSettled, signalledEvents } from "../harness/stack/inbox.js";
import { defectiveBundle, startRelease } from "../harness/stack/releases.js";
import { historyOf, startTestStack, type TestStack } from "../harness/stack/stack.js";
import { temporaryFolder } from "../harness/temporary.js";
import { processesUnderTest } from "../processes/index.js";
import { Load } from "./load.js";
import { startTemporalCluster, type Service, type TemporalCluster } from "./temporal-cluster.js";

const PROCESSES = Number(process.env["GAME_DAY_PROCESSES"] ?? 10_000);
const OF_EACH = 2;
const AWAY_MS = 10_000;
/** For what must happen, however busy the machine is. */
const LIMIT_MS = 600_000;
const DAY_LIMIT_MS = 7_200_000;
/** So many ends show that the system is at work again. */
const ENDS = 50;
/** Of the callbacks that were delivered. */
const SAMPLE = 5_000;
const reportFile = process.env["GAME_DAY_REPORT"] ?? join(await temporaryFolder(), "report");
/** A line of the report. */
const report = (told: object) => appendFile(reportFile, `${JSON.stringify(told)}\n`);

let folder: string;
let postgres: PostgresServer;
let database: Hop;
let receivers: Hop;
let cluster: TemporalCluster;
let system: TestStack;
let load: Load;
let isOver = false;
let day: Promise<void>;
/** Of the worker of the release that does not replay elsewhere. */
let defectivePid: number;
const workers: Role[] = [];
const others: Role[] = [];

beforeAll(async () => {
  await buildPrograms((line) => console.error(line), ["temporal"]);
  folder = await temporaryFolder();
  postgres = await startPostgres({ directory: join(folder, "postgres") });
  database = await startHop([`127.0.0.1:${postgres.port}`]);
  const url = new URL(postgres.url);
  url.host = database.address;
  cluster = await startTemporalCluster({ directory: folder, databaseUrl: url.href, of: OF_EACH });
  const addresses: string[] = [];
  receivers = await startHop(addresses);
  system = await startTestStack({
    databaseUrl: url.href,
    // Codes and tokens get old by the clock of those who use them.
    sandboxPersonTime: "real",
    env: {
      TEMPORAL_ADDRESS: cluster.address,
      TRUSTFLOW_CALLBACKS__PUBLIC_URL: `http://${receivers.address}`,
      // Processes that wait for a person must not keep two cores busy.
      TRUSTFLOW_ATTENTION__RETRY_SECONDS: "20",
      TRUSTFLOW_ATTENTION__PROBE_SECONDS: "20",
      // The politeness towards a provider is not what is tested.
      TRUSTFLOW_WORKER__REQUESTS_PER_SECOND: "1000",
    },
  });
  const { stack } = system;
  const [receiver, relay, worker] = await startSecondRoles(system);
  workers.push(stack.role("worker"), worker);
  others.push(stack.role("relay"), stack.role("receiver"), relay, receiver);
  addresses.push(...[stack.role("receiver"), receiver].map(hostOf));
  load = new Load(system);
  day = load.run(() => isOver && load.ended >= PROCESSES);
  day.catch(() => undefined);
}, 1_800_000);
afterAll(async () => {
  load?.close();
  await Promise.all([...workers, ...others].map((role) => role.stop()));
  await system?.close();
  await cluster?.close();
  receivers?.close();
  database?.close();
  await postgres?.close();
}, 120_000);

const serviceOf = (role: Role): Omit<Service, "pid"> => ({
  name: role.name,
  kill: () => role.kill("SIGKILL"),
  start: () => role.restart(),
});

const endsMore = (count: number, what: string) => {
  const from = load.ended;
  return eventually(`${what}: ${count} processes end`, () => load.ended >= from + count, LIMIT_MS);
};

/** Something fails while processes run; at its end it is repaired, and processes end again. */
function event(name: string, happens: () => Promise<unknown>): void {
  test(
    name,
    async () => {
      await endsMore(ENDS, `before: ${name}`);
      const [before, began] = [load.ended, performance.now()];
      await happens();
      const [meanwhile, repaired] = [load.ended - before, performance.now()];
      await endsMore(ENDS, name);
      const seconds = (from: number, to: number) => Math.round((to - from) / 100) / 10;
      await report({
        ...{ event: name, seconds: seconds(began, repaired), endedMeanwhile: meanwhile },
        [`secondsTo${ENDS}Ends`]: seconds(repaired, performance.now()),
      });
      expect(load.problems).toEqual([]);
    },
    LIMIT_MS * 2,
  );
}

event("every worker is killed", async () => {
  await Promise.all(workers.map((role) => role.kill("SIGKILL")));
  await delay(AWAY_MS);
  await Promise.all(workers.map((role) => role.restart()));
});

event("a fifth of all processes is killed, five times", async () => {
  const parts = [...cluster.services, ...[...workers, ...others].map(serviceOf)];
  for (let round = 0; round < 5; round += 1) {
    const hit = Array.from({ length: Math.ceil(parts.length / 5) }, () =>
      parts.splice(Math.floor(Math.random() * parts.length), 1),
    ).flat();
    await Promise.all(hit.map((part) => part.kill()));
    await delay(AWAY_MS / 2);
    await Promise.all(hit.map((part) => part.start()));
    parts.push(...hit);
    await endsMore(1, `round ${round}: ${hit.map(({ name }) => name).join(", ")}`);
  }
});

event("four times as many applications", () =>
  load.crowd(4, () => endsMore(4 * ENDS, "the crowd")),
);

event("PostgreSQL is killed, and is away", async () => {
  await postgres.kill();
  await delay(AWAY_MS);
  await postgres.start();
  await eventually("Temporal serves", cluster.isServing, LIMIT_MS);
});

event("the provider gives no answer", async () => {
  const { pid } = system.stack.role("sandbox");
  process.kill(pid, "SIGSTOP");
  await delay(AWAY_MS);
  process.kill(pid, "SIGCONT");
});

event("the provider refuses: 503, then too many requests", async () => {
  const fault = { operation: "*", kind: "reject", times: "always", forMs: AWAY_MS } as const;
  for (const more of [{ status: 503 }, { status: 429, retryAfterSeconds: 1 }]) {
    await system.sandbox.addFault({ ...fault, ...more });
    await delay(AWAY_MS);
  }
});

event("the provider's answers are cut, before and after what it does", async () => {
  for (const kind of ["cut", "cut-after-commit"] as const) {
    await system.sandbox.addFault({ operation: "*", kind, times: "always", forMs: AWAY_MS / 5 });
    await delay(AWAY_MS);
  }
});

event("the network is cut everywhere, again and again", async () => {
  for (const end = Date.now() + AWAY_MS; Date.now() < end; await delay(1_000))
    for (const hop of [cluster.hop, database, receivers]) hop.cut();
});

event("Temporal refuses what is over its limit", async () => {
  await cluster.configure({ "frontend.namespaceRPS": 20, "frontend.namespaceBurstRatio": 1 });
  await delay(2 * AWAY_MS);
  await cluster.configure({});
});

event("a deploy: each role is stopped and started, one after the other", async () => {
  for (const role of [...others, ...workers]) await role.restart();
});

event(
  "a release whose processes do not replay elsewhere: found, and repaired by a reset",
  async () => {
    const bundle = await defectiveBundle();
    const code = bundle.replaceAll("WAITS_BEFORE", () => "submit");
    const bad = await startRelease(system, "waits", code);
    defectivePid = bad.pid;
    await Promise.all(workers.map((role) => role.stop()));
    await endsMore(ENDS, "the release runs").catch(() => undefined);
    await bad.stop();
    await Promise.all(workers.map((role) => role.restart()));
    load.repairs = true;
    await eventually("one was stuck, and is repaired", () => load.repaired.size > 0, LIMIT_MS);
  },
);

test(
  `${PROCESSES} processes have ended as their providers say`,
  async () => {
    isOver = true;
    await day;
    const { ended, decisions, repaired } = load;
    await report({ ended, repaired: repaired.size, decisions });
    expect(load.problems).toEqual([]);
  },
  DAY_LIMIT_MS,
);

test("each intent has one effect, unless a person confirmed a second", async () => {
  expect(await load.excess()).toEqual([]);
}, 120_000);

test(
  "each callback that was acknowledged is kept, and is in the history of its process",
  async () => {
    await inboxSettled(system, LIMIT_MS);
    const { callbacks } = await system.sandbox.state();
    const { rows } = await system.pool.query<{ of: string; identifier: string; state: string }>(
      "select workflow_id as of, identifier, state from trustflow.callbacks",
    );
    expect(rows.length).toBeGreaterThanOrEqual(callbacks.delivered);
    const delivered = rows.filter(({ state }) => state === "delivered");
    const missing: string[] = [];
    for (const of of new Set(delivered.map((row) => row.of).slice(0, SAMPLE))) {
      const told = new Set((await signalledEvents(system, of)).flat().map(({ id }) => id));
      // The receiver has made the identifier of an event that brings none.
      const isTold = (identifier: string) =>
        identifier.startsWith("sha256:") ? told.size > 0 : told.has(eventIdOf(identifier));
      for (const { identifier } of delivered.filter((row) => row.of === of))
        if (!isTold(identifier)) missing.push(`${of}: ${identifier}`);
    }
    expect(missing).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "every history replays",
  async () => {
    const ids: string[] = [];
    for await (const { workflowId } of system.client.temporal.workflow.list()) ids.push(workflowId);
    expect(ids.length).toBeGreaterThanOrEqual(PROCESSES);
    const { corrupt } = await examine(system, [...new Set(ids)]);
    const unexplained: string[] = [];
    for (const problem of corrupt) {
      const [id = ""] = problem.split(": ");
      if (!(await isEndedByDefective(id))) unexplained.push(problem);
    }
    await report({ replayed: ids.length, ofTheDefective: corrupt.length - unexplained.length });
    expect(unexplained).toEqual([]);
  },
  DAY_LIMIT_MS,
);

/** The defective release took its last task: it was never stuck, and only that release replays it. */
async function isEndedByDefective(workflowId: string): Promise<boolean> {
  const { events } = await historyOf(system, workflowId);
  const tasks = (events ?? []).flatMap((event) => event.workflowTaskCompletedEventAttributes ?? []);
  return tasks.at(-1)?.identity?.startsWith(`${defectivePid}@`) ?? false;
}

/** The provider answers a second submit with the same token as the first one. */
const hasToken = new Set(["evi-post.submit", "evi-notice.submit"]);
const OF_EACH_KIND = 3;
const lives = (name: string) =>
  processesUnderTest.flatMap((underTest) =>
    Array.from({ length: OF_EACH_KIND }, (_, number) => ({
      underTest,
      id: `${name}-${underTest.process}-${number}`,
    })),
  );
type Life = ReturnType<typeof lives>[number];

test(
  "PostgreSQL restored to a point in time, by the page on restoring: nothing is sent twice",
  async () => {
    const data = join(folder, "postgres", "data");
    await system.pool.query("alter system set wal_keep_size = '4GB'");
    await system.pool.query("select pg_reload_conf()");
    const backup = await temporaryFolder();
    await baseBackup(system.pool, data, backup);
    const start = (some: Life[]) =>
      Promise.all(some.map(({ underTest, id }) => underTest.start(system.client, id)));
    const [known, forgotten] = [lives("known"), lives("forgotten")];
    await start(known);
    const { rows } = await system.pool.query<{ at: string }>(
      "select clock_timestamp()::text as at",
    );
    await start(forgotten);
    await eventually("what is forgotten has been sent", async () => {
      const { byIntent } = await system.sandbox.ledger();
      return forgotten.every(
        ({ underTest: { effects }, id }) => Object.keys(effects).length === 0 || byIntent[id],
      );
    });
    await Promise.all([...workers, ...others].map((role) => role.stop()));
    await Promise.all(cluster.services.map((service) => service.kill()));
    await postgres.stop();
    await restoreTo(rows[0]?.at ?? "", data, backup);
    await Promise.all(cluster.services.map((service) => service.start()));
    await eventually("Temporal serves", cluster.isServing, LIMIT_MS);
    await Promise.all(others.map((role) => role.restart()));

    const kept: Life[] = [];
    const { byIntent } = await system.sandbox.ledger();
    for (const life of [...known, ...forgotten]) {
      const workflowId = workflowIdOf(life.underTest.process, life.id);
      const workflow = system.client.temporal.workflow.getHandle(workflowId);
      if (!(await wouldSendAgain(life, byIntent[life.id] ?? {}))) kept.push(life);
      else await workflow.terminate().catch(ignoreUnknown);
    }
    const terminated = known.length + forgotten.length - kept.length;
    await report({
      event: "PostgreSQL restored to a point in time",
      kept: kept.length,
      terminated,
    });
    await Promise.all(workers.map((role) => role.restart()));
    await Promise.all(kept.map(({ underTest, id }) => load.live(underTest, id)));
    expect(load.problems).toEqual([]);
    expect(await load.excess()).toEqual([]);
  },
  LIMIT_MS * 2,
);

/** From the backup, by the logs that the server has left. */
async function restoreTo(time: string, data: string, backup: string): Promise<void> {
  await copy(join(data, "pg_wal"), join(backup, "data", "archive"));
  await rm(data, { recursive: true });
  await copy(join(backup, "data"), join(folder, "postgres"));
  await writeFile(join(data, "recovery.signal"), "", { mode: 0o644 });
  const settings = [
    `restore_command = 'cp "${data}/archive/%f" "%p"'`,
    `recovery_target_time = '${time}'`,
    "recovery_target_action = promote",
  ];
  await appendFile(join(data, "postgresql.auto.conf"), settings.join("\n"));
  await postgres.start();
  const isOpen = async () => {
    const sql = "select where not pg_is_in_recovery()";
    return (await system.pool.query(sql)).rowCount === 1;
  };
  await eventually("the logs are applied", () => isOpen().catch(() => false), LIMIT_MS);
}

/** The provider has done what the journal does not know. */
async function wouldSendAgain(
  { underTest: { calls, provider }, id }: Life,
  done: Record<string, number>,
): Promise<boolean> {
  const { rows } = await system.pool.query<{ operation: string }>(
    "select operation from trustflow.effects where provider = $1 and split_part(workflow_id, '/', 2) = $2",
    [provider, id],
  );
  return calls.some(({ sandbox, operation }) => {
    const known = rows.filter((row) => row.operation === operation).length;
    return !hasToken.has(sandbox) && (done[sandbox] ?? 0) > known;
  });
}

function ignoreUnknown(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
