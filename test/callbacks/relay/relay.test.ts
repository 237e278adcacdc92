// The relay against a real PostgreSQL; Temporal's answers are given by the test, so that each can be had at will (docs/design.md §7).
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { ServiceError } from "@temporalio/client";
import { NamespaceNotFoundError, WorkflowNotFoundError } from "@temporalio/common";
import { correlationOf } from "../../../src/callbacks/address.js";
import type { ProcessSubject } from "../../../src/callbacks/address.js";
import { CallbackArchive } from "../../../src/callbacks/inbox/archive.js";
import type { CallbackSummary } from "../../../src/callbacks/inbox/archive.js";
import { Arrivals } from "../../../src/callbacks/receiver/arrivals.js";
import { Inbox } from "../../../src/callbacks/inbox/inbox.js";
import { defaultQuota } from "../../../src/contracts/shared/callback-quota.js";
import { startRelay } from "../../../src/callbacks/relay/relay.js";
import type { Relay } from "../../../src/callbacks/relay/relay.js";
import { signalName } from "../../../src/callbacks/relay/signaller.js";
import { providerEvents } from "../../../src/contracts/shared/messages.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { bodyKeys, FakeTemporal, parsers, ring, sealRing, subjectOf } from "../support.js";
import { until } from "../../harness/outages/wait.js";
import { ofFile } from "../../harness/of-file.js";

/** What the relay does with many. */
const quota = { ...defaultQuota, eventsPerProcess: 1_000 };

/** Of time in the database, so that none ends on a busy machine. */
const LEASE = 600_000;
const relays: Relay[] = [];
const database = ofFile(() => testDatabase({ hasClock: true }));
const archive = ofFile(() => new CallbackArchive(database.pool));
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
  await database.pool.query("truncate trustflow.callbacks");
});

async function start(
  temporal: FakeTemporal,
  over: Partial<Parameters<typeof startRelay>[0]> = {},
): Promise<Relay> {
  const { pool } = database;
  const relay = await startRelay({
    pool,
    ring,
    bodyKeys,
    parsers,
    clientFor: () => temporal,
    gatherMs: 20,
    scanMs: 60_000,
    signalTimeoutMs: 60_000,
    leaseMs: LEASE,
    ...over,
  });
  relays.push(relay);
  await until(() => relay.health().listening);
  return relay;
}

async function arrive(
  subject: ProcessSubject,
  bodies: object[],
  sealedWith = sealRing,
  eventsPerProcess = quota.eventsPerProcess,
): Promise<void> {
  const arrivals = bodies.map((body) => ({
    address: `address of ${subject.workflowId}`,
    identifier: (body as { Identifier?: string }).Identifier ?? randomUUID(),
    subject,
    body: Buffer.from(JSON.stringify(body)),
  }));
  await new Arrivals(database.pool, sealedWith, { ...quota, eventsPerProcess }).insert(
    arrivals,
    5_000,
  );
}

const events = (count: number, prefix = "e"): { Identifier: string }[] =>
  Array.from({ length: count }, (_, i) => ({ Identifier: `${prefix}-${i}` }));
const list = ({ workflowId }: ProcessSubject): Promise<CallbackSummary[]> =>
  archive.list({ workflowId, limit: 1_000 });
const statesOf = async (subject: ProcessSubject): Promise<string[]> =>
  (await list(subject))
    .toReversed()
    .map(({ state, reason }) => (reason ? `${state}: ${reason}` : state));
const settled = (subject: ProcessSubject, states: string[]) =>
  until(async () => JSON.stringify(await statesOf(subject)) === JSON.stringify(states));

const grpc = (code: number, details: string): ServiceError =>
  new ServiceError("failed", {
    cause: Object.assign(new Error(details), { code, details, metadata: {} }),
  });
const INVALID = grpc(3, "Signal input size exceeds limit");
const UNAVAILABLE = grpc(14, "no connection");

test("the signal has the name that the processes listen to", () => {
  expect(signalName).toBe(providerEvents.name);
});

test("a notification is enough: all that waits for a process goes in one signal, in the order of arrival", async () => {
  const temporal = new FakeTemporal();
  await start(temporal);
  const subject = subjectOf();
  for (const event of events(5)) await arrive(subject, [event]);
  await settled(subject, Array(5).fill("delivered"));
  expect(temporal.to(subject.workflowId)).toEqual(events(5).map(({ Identifier }) => Identifier));
  expect(temporal.signals.length).toBeLessThan(5);
});

test("what arrived while no relay ran is delivered at the start", async () => {
  const subject = subjectOf();
  await arrive(subject, events(3));
  const temporal = new FakeTemporal();
  const relay = await start(temporal);
  await settled(subject, Array(3).fill("delivered"));
  expect(temporal.signals).toHaveLength(1);
  expect(relay.health()).toMatchObject({
    listening: true,
    pausedNamespaces: [],
    lastLook: expect.any(Date),
    reading: true,
  });
});

test("a signal carries at most 100 events and 256 kB", async () => {
  const [many, large] = [subjectOf(), subjectOf()];
  await arrive(many, events(230));
  await arrive(
    large,
    events(6).map((event) => ({ ...event, note: "x".repeat(90_000) })),
  );
  const temporal = new FakeTemporal();
  await start(temporal);
  await until(async () => (await archive.counts()).delivered === 236);
  const sizes = (to: ProcessSubject) =>
    temporal.signals.filter((s) => s.workflowId === to.workflowId).map(({ ids }) => ids.length);
  expect(sizes(many)).toEqual([100, 100, 30]);
  expect(sizes(large)).toEqual([2, 2, 2]);
  expect(temporal.to(many.workflowId)).toEqual(events(230).map(({ Identifier }) => Identifier));
});

test("a slow process delays no other, and two relays never signal one process at the same time", async () => {
  const temporal = new FakeTemporal();
  const [slow, quick] = [subjectOf(), subjectOf()];
  const active = new Map<string, number>();
  let together = 0;
  temporal.answer = async ({ workflowId }) => {
    const now = (active.get(workflowId) ?? 0) + 1;
    active.set(workflowId, now);
    together = Math.max(together, now);
    await new Promise((resolve) => setTimeout(resolve, workflowId === slow.workflowId ? 200 : 5));
    active.set(workflowId, now - 1);
  };
  await Promise.all([start(temporal), start(temporal), start(temporal)]);
  for (let i = 0; i < 20; i += 1) {
    await arrive(slow, events(2, `s${i}`));
    await arrive(quick, events(2, `q${i}`));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await settled(quick, Array(40).fill("delivered"));
  await settled(slow, Array(40).fill("delivered"));
  expect(together).toBe(1);
  for (const subject of [slow, quick]) {
    const ids = temporal.to(subject.workflowId);
    expect(new Set(ids).size).toBe(40);
    expect(ids).toHaveLength(40);
  }
  expect(temporal.to(slow.workflowId)).toEqual(
    Array.from({ length: 20 }, (_, i) => [`s${i}-0`, `s${i}-1`]).flat(),
  );
});

test("what cannot be read is parked with its reason and kept; the rest goes on", async () => {
  const subject = subjectOf();
  await arrive(subject, [{ Identifier: "a" }]);
  await arrive({ ...subject, provider: "evi-post" }, [
    { unlike: "an envelope" },
    { Identifier: "x", Kind: "Sent", Date: "a private word" },
  ]);
  await arrive(subject, [{ Identifier: "b", correlation: "of another process" }]);
  await arrive(subject, [{ Identifier: "c", correlation: correlationOf(ring, subject) }]);
  await arrive(subject, [{ Identifier: "d" }], KeyRing.parse(generateBoxRing("lost").publicRing));
  await arrive({ ...subject, provider: "nobody" }, [{ Identifier: "e" }]);
  const temporal = new FakeTemporal();
  await start(temporal);
  await settled(subject, [
    "delivered",
    "parked: unreadable",
    "parked: unreadable",
    "parked: correlationMismatch",
    "delivered",
    "parked: undecryptable",
    "parked: unknownProvider",
  ]);
  expect(temporal.to(subject.workflowId)).toEqual(["a", "c"]);
  const [undated, unreadable] = (await list(subject)).filter(
    ({ reason }) => reason === "unreadable",
  );
  expect(unreadable?.detail).toBe(
    "evi-post callback: the callback is unreadable (Identifier; Kind; Date)",
  );
  expect(undated?.detail).toBe("evi-post callback: the callback is unreadable (Date)");
  expect((await archive.show(unreadable?.id ?? "", bodyKeys))?.body).toBe(
    '{"unlike":"an envelope"}',
  );
});

test("a process that has ended makes its events late, one that never was parks them; replay gives them another chance", async () => {
  const temporal = new FakeTemporal();
  const [ended, unknown] = [subjectOf(), subjectOf()];
  let mended = false;
  temporal.answer = ({ workflowId }) => {
    if (mended) return;
    const completed = workflowId === ended.workflowId;
    throw new WorkflowNotFoundError(
      completed
        ? "workflow execution already completed"
        : `workflow not found for ID: ${workflowId}`,
      workflowId,
      undefined,
    );
  };
  await start(temporal);
  await arrive(ended, events(2));
  await arrive(unknown, events(2));
  await settled(ended, ["late", "late"]);
  await settled(unknown, Array(2).fill("parked: unknownProcess"));
  mended = true;
  const ids = [...(await list(ended)), ...(await list(unknown))].map(({ id }) => id);
  expect((await archive.replay(ids)).toSorted()).toEqual(ids.toSorted());
  await settled(ended, ["delivered", "delivered"]);
  await settled(unknown, ["delivered", "delivered"]);
  expect(await archive.replay(ids)).toEqual([]);
});

test("a batch that Temporal refuses is halved until the poison row is alone; the others arrive once, in order", async () => {
  const temporal = new FakeTemporal();
  temporal.answer = ({ ids }) => {
    if (ids.includes("e-13") || ids.includes("e-40")) throw INVALID;
  };
  const subject = subjectOf();
  await arrive(subject, events(64));
  await start(temporal);
  await settled(
    subject,
    events(64).map((_, i) => (i === 13 || i === 40 ? "parked: refusedByTemporal" : "delivered")),
  );
  const expected = events(64)
    .map(({ Identifier }) => Identifier)
    .filter((id) => id !== "e-13" && id !== "e-40");
  expect(temporal.to(subject.workflowId)).toEqual(expected);
});

test("too large for gRPC is refused as well, a busy server is not", async () => {
  const temporal = new FakeTemporal();
  const [large, busy] = [subjectOf(), subjectOf()];
  let refusals = 2;
  temporal.answer = ({ workflowId }) => {
    if (workflowId === large.workflowId)
      throw grpc(8, "grpc: received message larger than max (5000000 vs. 4194304)");
    if (refusals-- > 0) throw grpc(8, "namespace rate limit exceeded");
  };
  await start(temporal);
  await arrive(large, events(1));
  await arrive(busy, events(1));
  await settled(large, ["parked: refusedByTemporal"]);
  await settled(busy, ["delivered"]);
});

test.each([
  ["the server is away", UNAVAILABLE],
  ["nothing answers in time", grpc(4, "deadline exceeded")],
  ["the namespace is missing", new NamespaceNotFoundError("default")],
  ["access is denied", grpc(7, "request unauthorized")],
])("%s: nothing is lost or parked, and it goes on by itself", async (_name, error) => {
  const temporal = new FakeTemporal();
  let away = true;
  let attempts = 0;
  temporal.answer = () => {
    attempts += 1;
    if (away) throw error;
  };
  const relay = await start(temporal);
  const subjects = Array.from({ length: 30 }, () => subjectOf());
  for (const subject of subjects) await arrive(subject, events(2));
  await until(() => relay.health().pausedNamespaces.includes("default"));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect((await archive.counts()).delivered).toBe(0);
  // The sixteen that were under way when it was noticed, and a few looks since; not sixty times what waits.
  expect(attempts).toBeLessThan(100);
  away = false;
  await until(async () => (await archive.counts()).delivered === 60);
  for (const { workflowId } of subjects) expect(temporal.to(workflowId)).toEqual(["e-0", "e-1"]);
});

test("a namespace that is away holds up no other", async () => {
  const [here, away] = [new FakeTemporal(), new FakeTemporal()];
  away.answer = () => {
    throw UNAVAILABLE;
  };
  await start(here, { clientFor: (namespace) => (namespace === "there" ? away : here) });
  const [near, far] = [subjectOf(), subjectOf({ namespace: "there" })];
  await arrive(far, events(50));
  await until(async () => (await statesOf(far)).includes("waiting"));
  await arrive(near, events(1));
  await settled(near, ["delivered"]);
});

test("a relay that dies between signal and mark: another delivers again when the lease is over", async () => {
  const subject = subjectOf();
  await arrive(subject, events(2));
  // As the dead one left it: claimed, signalled, not marked.
  const claimed = await new Inbox(database.pool).claim(randomUUID(), LEASE);
  expect(claimed).toHaveLength(2);
  expect(await statesOf(subject)).toEqual(["claimed", "claimed"]);
  const temporal = new FakeTemporal();
  await start(temporal, { scanMs: 100 });
  await arrive(subject, events(1, "new"));
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(temporal.signals).toHaveLength(0);
  await database.pass(LEASE);
  await settled(subject, Array(3).fill("delivered"));
  expect(temporal.to(subject.workflowId)).toEqual(["e-0", "e-1", "new-0"]);
});

test("a relay that lost its claim writes nothing", async () => {
  const subject = subjectOf();
  await arrive(subject, events(1));
  const inbox = new Inbox(database.pool);
  const [row] = await inbox.claim("00000000-0000-4000-8000-000000000001", 0);
  const again = await inbox.claim("00000000-0000-4000-8000-000000000002", 10_000);
  expect(again).toHaveLength(1);
  await inbox.settle("00000000-0000-4000-8000-000000000001", [row?.id ?? ""], {
    state: "parked",
    reason: "unreadable",
  });
  expect(await statesOf(subject)).toEqual(["claimed"]);
  expect(await inbox.claim(randomUUID(), 1_000)).toEqual([]);
});

test("two receivers that store the same callbacks in another order do not stop each other", async () => {
  const inbox = new Arrivals(database.pool, sealRing);
  for (let round = 0; round < 30; round += 1) {
    const subject = subjectOf();
    const arrivals = Array.from({ length: 128 }, (_, index) => ({
      address: `address-of-${subject.workflowId}`,
      identifier: `id-${index}`,
      subject,
      body: Buffer.from("{}"),
    }));
    const results = await Promise.all([
      inbox.insert(arrivals, 10_000),
      inbox.insert(arrivals.toReversed(), 10_000),
    ]);
    expect(results.flat().filter((result) => result === "stored")).toHaveLength(128);
  }
  await database.pool.query("truncate trustflow.callbacks");
});

test("concurrent claims never share a process", async () => {
  const subjects = Array.from({ length: 5 }, () => subjectOf());
  const inbox = new Inbox(database.pool);
  for (let round = 0; round < 20; round += 1) {
    const claims = await Promise.all([
      ...subjects.map((subject) => arrive(subject, events(1, `r${round}`)).then(() => [])),
      ...Array.from({ length: 4 }, () => inbox.claim(randomUUID(), 60_000)),
    ]);
    const owners = claims.map((rows) => new Set(rows.map(({ workflowId }) => workflowId)));
    const all = owners.flatMap((set) => [...set]);
    expect(new Set(all).size).toBe(all.length);
    await database.pool.query("update trustflow.callbacks set claimed_until = null, claim = null");
  }
});

test("a lost listening connection comes back, and what came meanwhile is found", async () => {
  const temporal = new FakeTemporal();
  const relay = await start(temporal);
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()",
  );
  await until(() => !relay.health().listening);
  const subject = subjectOf();
  await arrive(subject, events(1));
  await settled(subject, ["delivered"]);
  await until(() => relay.health().listening);
});

test("a relay that cannot read its table says so once, and reads none of it until it can", async () => {
  const said: string[] = [];
  const logger = {
    warn: (message: string) => void said.push(message),
    info: (message: string) => void said.push(message),
  };
  const relay = await start(new FakeTemporal(), { logger, scanMs: 20 });
  await until(() => relay.health().reading);
  const rename = (from: string, to: string) =>
    database.pool.query(`alter table trustflow.${from} rename to ${to}`);
  await rename("callbacks", "hidden_callbacks");
  try {
    await until(() => !relay.health().reading);
    // Several looks: the pauses between them grow from a quarter of a second.
    await delay(2_000);
    expect(relay.health()).toMatchObject({ listening: true, reading: false });
  } finally {
    await rename("hidden_callbacks", "callbacks");
  }
  await until(() => relay.health().reading);
  expect(said.filter((message) => message.includes("inbox"))).toEqual([
    "the inbox cannot be read",
    "the inbox can be read again",
  ]);
  expect(new Set(said).size).toBe(said.length);
});

test("closing gives back what is not under way yet", async () => {
  const temporal = new FakeTemporal();
  temporal.answer = () => new Promise((resolve) => setTimeout(resolve, 200));
  const relay = await start(temporal, { parallel: 2 });
  const subjects = Array.from({ length: 20 }, () => subjectOf());
  for (const subject of subjects) await arrive(subject, events(1));
  await until(async () => (await archive.counts()).claimed > 0);
  await relay.close();
  const { delivered, waiting, claimed } = await archive.counts();
  expect({ claimed, sum: delivered + waiting }).toEqual({ claimed: 0, sum: 20 });
  expect(delivered).toBe(temporal.signals.length);
});

test("a process that does not answer to the word of its surplus holds up no other one", async () => {
  const [flooded, other] = [subjectOf(), subjectOf()];
  const temporal = new FakeTemporal();
  let isTold = false;
  let goOn = () => undefined as void;
  const answered = new Promise<void>((resolve) => (goOn = resolve));
  temporal.answer = async ({ workflowId, ids }) => {
    if (workflowId !== flooded.workflowId || ids.length > 0) return;
    isTold = true;
    await answered;
  };
  await arrive(flooded, events(3), sealRing, 1);
  await start(temporal);
  await until(() => isTold);
  await arrive(other, events(1));
  await until(async () => (await statesOf(other))[0] === "delivered");
  goOn();
});
