// A server or a role goes away and comes back: nothing that was acknowledged is lost, nothing is applied twice, and no
// process fails or asks for a person (docs/design.md §1, §7). Meanwhile each role says what it waits for. One sample of each on real
// servers: the simulation has them at all moments, for all processes.
import { afterAll, beforeAll, expect, test } from "vitest";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Trustflow } from "../../../src/client.js";
import type { ProcessHandle } from "../../../src/client.js";
import { roleNames } from "../../../packages/dev/src/stack/role.js";
import type { RoleName } from "../../../packages/dev/src/stack/role.js";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import type { TimelineEntry } from "../../../src/contracts/shared/status.js";
import type { CallbackLogEntry } from "../../../packages/sandbox/src/callbacks/callbacks.js";
import { eventually } from "../../harness/outages/wait.js";
import { holdRole, killHeldRoles } from "../../harness/outages/roles.js";
import { Exits } from "../shutdown/exits.js";
import { sendPostalUnderTest as underTest } from "../../processes/send-postal/under-test.js";
import {
  callbackAddress,
  endClaims,
  inboxRows,
  signalledEvents,
} from "../../harness/stack/inbox.js";
import { baseBackup, copy } from "../../harness/stack/base-backup.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { temporaryFolder } from "../../harness/temporary.js";

const MINUTE_MS = 60_000;
const exits = new Exits();
const run = promisify(execFile);

let system: TestStack;
let backup: string;

beforeAll(async () => {
  // Persistent, so that Temporal keeps its database over a restart. Its clock is stopped until a test lets it run, so the provider
  // changes only when a test says so.
  system = await startTestStack({
    persistent: true,
    roles: roleNames,
    sandboxSpeed: "manual",
    onDeath: exits.note,
  });
  backup = await temporaryFolder();
}, 120_000);
afterAll(async () => {
  await killHeldRoles();
  await system?.close();
  if (system) await rm(system.stack.directory, { recursive: true, force: true });
}, 60_000);

function urlOfRole(role: RoleName): string {
  const { env, sandboxUrl, receiverUrl, codecUrl } = system.stack;
  const local = (port = "") => `http://127.0.0.1:${port}`;
  return {
    sandbox: sandboxUrl,
    receiver: receiverUrl,
    "codec-server": new URL(codecUrl).origin,
    worker: local(env["TRUSTFLOW_WORKER__HEALTH_PORT"]),
    relay: local(env["TRUSTFLOW_RELAY__HEALTH_PORT"]),
  }[role];
}

async function ask(role: RoleName, path: "/health" | "/ready"): Promise<[number, unknown]> {
  const response = await fetch(urlOfRole(role) + path, { headers: { connection: "close" } });
  const { ok, waitingFor } = (await response.json()) as { ok: boolean; waitingFor?: string[] };
  return [response.status, waitingFor ?? ok];
}

/** All roles live; those that wait for something say so, the others are ready. */
async function rolesWaitFor(waiting: Partial<Record<RoleName, string[]>>): Promise<void> {
  const answers = (path: "/health" | "/ready") =>
    Promise.all(roleNames.map(async (name) => [name, ...(await ask(name, path))]));
  const wanted = roleNames.map((name) =>
    waiting[name] ? [name, 503, waiting[name]] : [name, 200, true],
  );
  let said: unknown;
  await eventually("the answers", async () => {
    said = await answers("/ready");
    return JSON.stringify(said) === JSON.stringify(wanted);
  }).catch(() => undefined);
  expect(said).toEqual(wanted);
  expect(await answers("/health")).toEqual(roleNames.map((name) => [name, 200, true]));
}

function callbacksShown(timeline: TimelineEntry[]): number {
  return timeline.filter(({ source }) => source === "callback").length;
}

function idsOf(signals: ProviderEvent[][]): string[] {
  return signals.flat().map(({ id }) => id);
}

async function isDelivered(workflowId: string): Promise<boolean> {
  const rows = await inboxRows(system, workflowId);
  return rows.length > 0 && rows.every(({ state }) => state === "delivered");
}

/** What the provider's callbacks of an intent met. */
async function attemptsOf(intent: string): Promise<CallbackLogEntry[]> {
  const { newest } = await system.sandbox.callbacks();
  return newest.filter((entry) => entry.intent === intent);
}

async function retriesDone(): Promise<boolean> {
  await system.sandbox.advance(MINUTE_MS);
  return (await system.sandbox.callbacks()).counts.pending === 0;
}

function identifiers(of: { identifier: string }[]): string[] {
  return of.map(({ identifier }) => identifier).toSorted();
}

const urlOf = (workflowId: string) =>
  callbackAddress(system, { provider: underTest.provider, workflowId });

/** Those that go on to their end in the last test. */
const open: ProcessHandle<{ outcome: string }>[] = [];

async function start(
  id: string,
  client = system.client,
): Promise<ProcessHandle<{ outcome: string }>> {
  const handle = await underTest.start(client, id);
  open.push(handle);
  return handle;
}

async function startTracked(
  id: string,
  client = system.client,
): Promise<ProcessHandle<{ outcome: string }>> {
  const handle = await start(id, client);
  await eventually("tracking", async () => (await handle.status()).phase === "tracking");
  return handle;
}

test("a relay killed between signal and mark delivers again, and the event counts once", async () => {
  const relay = await holdRole(system, "relay", {
    statement: "callbacks set state",
    when: "before",
  });
  const handle = await startTracked("relay-killed");
  await system.sandbox.advance(15 * MINUTE_MS);
  await eventually("the marking", () => relay.isReached());
  const before = idsOf(await signalledEvents(system, handle.workflowId));
  expect(before.length).toBeGreaterThan(0);
  const rows = await inboxRows(system, handle.workflowId);
  expect(rows.map(({ identifier, state }) => [identifier, state])).toEqual(
    before.map((id) => [id, "waiting"]),
  );

  await relay.killAndReplace();
  await endClaims(system);
  await eventually("delivery", () => isDelivered(handle.workflowId));
  const after = idsOf(await signalledEvents(system, handle.workflowId));
  expect(after).toEqual([...before, ...before]);
  expect(callbacksShown(await handle.timeline())).toBe(before.length);
}, 60_000);

test("a receiver killed between commit and answer: the provider's retry is a duplicate", async () => {
  const receiver = await holdRole(system, "receiver", {
    statement: "trustflow.store_callbacks",
    when: "after",
  });
  const handle = await startTracked("receiver-killed");
  const advanced = system.sandbox.advance(15 * MINUTE_MS);
  await eventually("the commit", () => receiver.isReached());
  await receiver.killAndReplace();
  await advanced;
  await eventually("the provider's retries", retriesDone);
  const attempts = await attemptsOf(handle.id);
  expect(attempts.some(({ result }) => result === "retrying")).toBe(true);
  const acknowledged = attempts.filter(({ result }) => result === "delivered");
  await eventually("delivery", () => isDelivered(handle.workflowId));
  const rows = await inboxRows(system, handle.workflowId);
  expect(identifiers(rows)).toEqual(identifiers(acknowledged));
  expect(callbacksShown(await handle.timeline())).toBe(rows.length);
}, 60_000);

test("Temporal away: callbacks are still taken, and every process resumes where it stood", async () => {
  const handles = [await startTracked("temporal-away-1"), await startTracked("temporal-away-2")];
  await system.stack.temporal.kill();
  await system.sandbox.advance(15 * MINUTE_MS);
  for (const { id, workflowId } of handles) {
    const taken = await attemptsOf(id);
    expect(new Set(taken.map(({ result }) => result))).toEqual(new Set(["delivered"]));
    const rows = await inboxRows(system, workflowId);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(["waiting"]));
    expect(identifiers(rows)).toEqual(identifiers(taken));
  }

  await rolesWaitFor({ worker: ["Temporal"], relay: ["Temporal"] });

  await system.stack.temporal.restart();
  for (const { workflowId } of handles) {
    await eventually("delivery after the restart", () => isDelivered(workflowId));
  }
  for (const name of ["receiver", "relay", "worker"] as const) {
    expect(system.stack.role(name).isAlive()).toBe(true);
  }
  await rolesWaitFor({});
}, 90_000);

test("PostgreSQL away: callbacks hear 503 at once, and every process goes on when it is back", async () => {
  const postgres = system.stack.postgres;
  if (!postgres) throw new Error("the stack has no PostgreSQL of its own");
  const tracked = await startTracked("database-away-1");
  await postgres.stop();
  const submitting = await start("database-away-2");
  const asked = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const answer = await fetch(urlOf(tracked.workflowId), { method: "POST", body: "{}" });
      await answer.arrayBuffer();
      return [answer.status, answer.headers.get("retry-after")];
    }),
  );
  expect(performance.now() - asked).toBeLessThan(2_000);
  expect(answers).toEqual(Array.from({ length: 20 }, () => [503, "5"]));
  await system.sandbox.advance(15 * MINUTE_MS);
  const met = (await attemptsOf(tracked.id)).map(({ result }) => result);
  expect(new Set(met)).toEqual(new Set(["retrying"]));
  expect((await tracked.status()).attention).toBeUndefined();
  expect((await submitting.status()).attention).toBeUndefined();
  await rolesWaitFor({
    worker: ["PostgreSQL"],
    receiver: ["PostgreSQL"],
    relay: ["listening", "inbox", "PostgreSQL"],
  });

  await postgres.start();
  await eventually("tracking", async () => (await submitting.status()).phase === "tracking");
  await eventually("the provider's retries", retriesDone);
  const taken = (await attemptsOf(tracked.id)).filter(({ result }) => result === "delivered");
  expect(identifiers(await inboxRows(system, tracked.workflowId))).toEqual(identifiers(taken));
  await rolesWaitFor({});
}, 90_000);

test("a worker that is ending is not ready, while it finishes what it does", async () => {
  const [submit] = underTest.calls.map(({ sandbox }) => sandbox);
  await system.sandbox.addFault({ operation: submit!, kind: "slow-answer", ms: 4_000 });
  const handle = await start("slow");
  await eventually("the submit", async () => (await system.effects("slow"))[submit!] === 1);
  const worker = system.stack.role("worker");
  const ended = exits.stop(worker);
  await eventually("503", async () => (await ask("worker", "/ready"))[0] === 503);
  expect(await ask("worker", "/ready")).toEqual([503, ["shutdown"]]);
  expect(await ask("worker", "/health")).toEqual([200, true]);
  expect(await ended).toMatchObject({ code: 0 });
  await worker.restart();
  await eventually("tracking", async () => (await handle.status()).phase === "tracking");
}, 60_000);

// With a clock that runs, a receiver that is busy for seconds would miss all retries of a callback.
async function endWell(handles: ProcessHandle<{ outcome: string }>[]): Promise<void> {
  let living: string[] = [];
  // A status shows the outcome before the process has ended, and the clock must go on until then.
  await eventually(
    () => `the ends of ${living.join(", ")}`,
    async () => {
      const { pending } = (await system.sandbox.callbacks()).counts;
      await system.sandbox.advance(pending > 0 ? MINUTE_MS : 360 * MINUTE_MS);
      const stillOpen = await Promise.all(handles.map((handle) => handle.isOpen()));
      living = handles.filter((_, index) => stillOpen[index]).map(({ id }) => id);
      return living.length === 0;
    },
    100_000,
  );
  for (const handle of handles) {
    expect((await handle.result()).outcome).toBe(underTest.outcome);
    expect(await system.effects(handle.id)).toEqual(underTest.effects);
  }
}

test("after all of it, every process ends well, with one effect each", async () => {
  expect(open).toHaveLength(7);
  await endWell(open);
}, 120_000);

const here = (...path: string[]) => join(system.stack.directory, ...path);

async function backUp(): Promise<void> {
  const { temporal } = system.stack;
  await temporal.kill();
  await run("sh", ["-c", `cp -a ${here("temporal.db")}* ${backup}`]);
  await temporal.restart();
  await baseBackup(system.pool, here("postgres", "data"), backup);
  await copy(here("documents"), backup);
}

async function restore(): Promise<void> {
  const { temporal, postgres } = system.stack;
  for (const name of ["receiver", "relay", "worker"] as const) await system.stack.role(name).stop();
  await temporal.kill();
  await postgres?.stop();
  await run("sh", [
    "-c",
    `rm -r ${here("temporal.db")}* ${here("postgres", "data")} ${here("documents")}`,
  ]);
  await run("sh", ["-c", `cp -a ${backup}/temporal.db* ${backup}/documents ${here()}`]);
  await copy(join(backup, "data"), here("postgres"));
  await postgres?.start();
  await temporal.restart();
}

// A backup that is made while processes are open brings all of them back, with one effect each (docs/operations/upgrade.md): Temporal,
// PostgreSQL by its own base backup, and the documents with the data keys.
test("what the backup has goes on, and what it forgot is taken up again by the provider's memory", async () => {
  const known = await startTracked("known");
  // Its document is read after the restore, so the data keys have to be there.
  await system.sandbox.putAccount("sandbox", { password: "changed" });
  const waiting = await underTest.start(system.client, "waiting");
  await statusWhere(waiting, ({ attention }) => attention?.kind === "accessDenied");
  await backUp();
  await system.sandbox.putAccount("sandbox", { password: "sandbox" });
  const forgotten = await startTracked("forgotten");
  await restore();

  // First the callbacks: those of the forgotten letter wait for a person.
  for (const name of ["receiver", "relay"] as const) await system.stack.role(name).restart();
  await eventually("the callbacks", async () => {
    await system.sandbox.advance(MINUTE_MS);
    const rows = await inboxRows(system, forgotten.workflowId);
    return rows.length > 0 && rows.every(({ state }) => state === "parked");
  });
  await system.stack.role("worker").restart();
  // An application that went on would use a data key that was restored away.
  const client = await Trustflow.connect();
  const again = await startTracked("forgotten", client);

  await endWell([known, waiting, again]);
  await client.close();
}, 300_000);
