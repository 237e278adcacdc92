// The relay against a real PostgreSQL; Temporal's answers are given by the test (docs/design.md §7).
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { correlationOf } from "../../../src/callbacks/address.js";
import { FAILURES_UNTIL_ALONE } from "../../../src/callbacks/inbox/rows.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { bodyKeys, FakeTemporal, ring, subjectOf } from "../support.js";
import { until } from "../../harness/outages/wait.js";
import { grpc, relayStand } from "./relay-stand.js";

/** Of time in the database, so that none ends on a busy machine. */
const LEASE = 600_000;
const { temporal, database, archive, inbox, journal, start, arrive, statesOf, settled } =
  relayStand({
    ...{ gatherMs: 20, scanMs: 60_000, signalTimeoutMs: 60_000, leaseMs: LEASE },
  });

const events = (count: number, prefix = "e"): { Identifier: string }[] =>
  Array.from({ length: count }, (_, i) => ({ Identifier: `${prefix}-${i}` }));
const UNAVAILABLE = grpc(14, "no connection");

test("a notification is enough: all that waits for a process goes in one signal, in the order of arrival", async () => {
  await start();
  const subject = subjectOf();
  for (const event of events(5)) await arrive(subject, [event]);
  await settled(subject, Array(5).fill("delivered"));
  expect(temporal.to(subject.workflowId)).toEqual(events(5).map(({ Identifier }) => Identifier));
  expect(temporal.signals.length).toBeLessThan(5);
  expect(temporal.deadline - Date.now()).toBeGreaterThan(0);
});

test("one notification is enough for more callbacks than a claim takes, whether their process is known or not", async () => {
  for (const rows of [events(500), events(1)]) await arrive(subjectOf(), rows);
  await start({ unmatchedMs: 0 });
  await until(async () => (await archive.counts()).delivered === 501);
  const unknown = events(501).map((event) => ({ ...event, request_pk: "unknown" }));
  await arrive({ provider: "test-account", account: "default" }, unknown);
  await until(async () => (await archive.counts()).parked === 501);
});

test("a callback that is addressed alone is delivered without another notification", async () => {
  const account = { provider: "test-account", account: "default" };
  const subject = subjectOf();
  await journal.noteReference({ ...subject, ...account, reference: "r-1" });
  await arrive(account, [{ Identifier: "a", request_pk: "r-1" }]);
  await database.pool.query("update trustflow.callbacks set failures = $1", [FAILURES_UNTIL_ALONE]);
  await start();
  await until(() => temporal.to(subject.workflowId).length === 1);
});

test("a slow process delays no other, and two relays never signal one process at the same time", async () => {
  const [slow, quick] = [subjectOf(), subjectOf()];
  const active = new Map<string, number>();
  let together = 0;
  temporal.answer = async ({ workflowId }) => {
    const now = (active.get(workflowId) ?? 0) + 1;
    active.set(workflowId, now);
    together = Math.max(together, now);
    await delay(workflowId === slow.workflowId ? 200 : 5);
    active.set(workflowId, now - 1);
  };
  await Promise.all([start(), start(), start()]);
  for (let i = 0; i < 8; i += 1) {
    await arrive(slow, events(2, `s${i}`));
    await arrive(quick, events(2, `q${i}`));
    await delay(20);
  }
  await settled(quick, Array(16).fill("delivered"));
  await settled(slow, Array(16).fill("delivered"));
  expect(together).toBe(1);
  for (const [subject, prefix] of [
    [slow, "s"],
    [quick, "q"],
  ] as const)
    expect(temporal.to(subject.workflowId)).toEqual(
      Array.from({ length: 8 }, (_, i) => [`${prefix}${i}-0`, `${prefix}${i}-1`]).flat(),
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
  const next = KeyRing.parse(generateKeyRing("next"));
  await arrive(subject, [{ Identifier: "f", correlation: correlationOf(next, subject) }]);
  await arrive(subject, [{ Identifier: "d" }], {
    sealedWith: KeyRing.parse(generateBoxRing("lost").publicRing),
  });
  await arrive({ ...subject, provider: "nobody" }, [{ Identifier: "e" }]);
  await start();
  await settled(subject, [
    "delivered",
    "parked: unreadable",
    "parked: unreadable",
    "parked: correlationMismatch",
    "delivered",
    "parked: correlationMismatch",
    "parked: undecryptable",
    "parked: unknownProvider",
  ]);
  expect(temporal.to(subject.workflowId)).toEqual(["a", "c"]);
  const kept = await archive.list({ workflowId: subject.workflowId });
  const foreign = kept.filter(({ reason }) => reason === "correlationMismatch");
  const lacking = "keys.callback of the relay lacks the key that it names";
  expect(foreign.map(({ detail }) => detail)).toEqual([lacking, undefined]);
  const [undated, unreadable] = kept.filter(({ reason }) => reason === "unreadable");
  expect(unreadable?.detail).toBe(
    "evi-post callback: the callback is unreadable (Identifier; Kind; Date)",
  );
  expect(undated?.detail).toBe("evi-post callback: the callback is unreadable (Date)");
  expect((await archive.show(unreadable?.id ?? "", bodyKeys))?.body).toBe(
    '{"unlike":"an envelope"}',
  );
});

test("while the server is away nothing is lost or parked, and it goes on by itself", async () => {
  let away = true;
  let attempts = 0;
  temporal.answer = () => {
    attempts += 1;
    if (away) throw UNAVAILABLE;
  };
  const warnings: unknown[] = [];
  const logger = { warn: (...said: unknown[]) => void warnings.push(said) };
  const relay = await start({ logger });
  const subjects = Array.from({ length: 30 }, () => subjectOf());
  for (const subject of subjects) await arrive(subject, events(2));
  await until(() => relay.health().pausedNamespaces.includes("default"));
  await delay(300);
  expect((await archive.counts()).delivered).toBe(0);
  // The sixteen that were under way when it was noticed, and a few looks since; not as often as it can.
  expect(attempts).toBeLessThan(100);
  expect(warnings[0]).toEqual(["Temporal is out of reach", { namespace: "default" }]);
  away = false;
  await until(async () => (await archive.counts()).delivered === 60);
  for (const { workflowId } of subjects) expect(temporal.to(workflowId)).toEqual(["e-0", "e-1"]);
});

test("a namespace that is away holds up no other", async () => {
  const away = new FakeTemporal();
  away.answer = () => {
    throw UNAVAILABLE;
  };
  const relay = await start({
    clientFor(namespace) {
      if (namespace === "nowhere") throw new Error("no certificate");
      return namespace === "there" ? away : temporal;
    },
  });
  const [near, far] = [subjectOf(), subjectOf({ namespace: "there" })];
  await arrive(far, events(50));
  await arrive(subjectOf({ namespace: "nowhere" }), events(1));
  await until(async () => (await statesOf(far)).includes("waiting"));
  await until(() => relay.health().pausedNamespaces.toSorted().join() === "nowhere,there");
  await arrive(near, events(1));
  await settled(near, ["delivered"]);
});

test("a relay that dies between signal and mark: another delivers again when the lease is over", async () => {
  const subject = subjectOf();
  await arrive(subject, events(2));
  // As the dead one left it: claimed, signalled, not marked.
  const claimed = await inbox.claim(randomUUID(), LEASE);
  expect(claimed).toHaveLength(2);
  expect(await statesOf(subject)).toEqual(["claimed", "claimed"]);
  await start({ scanMs: 100 });
  await arrive(subject, events(1, "new"));
  await delay(150);
  expect(temporal.signals).toHaveLength(0);
  await database.pass(LEASE);
  await settled(subject, Array(3).fill("delivered"));
  expect(temporal.to(subject.workflowId)).toEqual(["e-0", "e-1", "new-0"]);
});

test("concurrent claims never share a process", async () => {
  const subjects = Array.from({ length: 5 }, () => subjectOf());
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
  const relay = await start();
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()",
  );
  await until(() => !relay.health().listening);
  const subject = subjectOf();
  await arrive(subject, events(1));
  await settled(subject, ["delivered"]);
  await until(() => relay.health().listening);
});

test("so many processes as configured are signalled at once, and closing gives back what is not under way yet", async () => {
  let [active, most] = [0, 0];
  temporal.answer = async () => {
    active += 1;
    most = Math.max(most, active);
    await delay(200);
    active -= 1;
  };
  const relay = await start({ parallel: 2 });
  const subjects = Array.from({ length: 20 }, () => subjectOf());
  for (const subject of subjects) await arrive(subject, events(1));
  await until(async () => (await archive.counts()).claimed > 0);
  await relay.close();
  const { delivered, waiting, claimed } = await archive.counts();
  expect({ claimed, sum: delivered + waiting }).toEqual({ claimed: 0, sum: 20 });
  expect(delivered).toBe(temporal.signals.length);
  expect(most).toBe(2);
});

test("closing waits for a signal that is under way, and marks what it carried", async () => {
  const subject = subjectOf();
  temporal.answer = () => delay(100);
  const signalled = vi.spyOn(temporal, "answer");
  const relay = await start();
  await arrive(subject, events(1));
  await until(() => signalled.mock.calls.length > 0);
  await relay.close();
  expect(await statesOf(subject)).toEqual(["delivered"]);
});

test("a claim that leaves no time for a signal is given back: another relay could have the rows before it is answered", async () => {
  const subject = subjectOf();
  const seen: unknown[] = [];
  await arrive(subject, events(1));
  const onEvent = (...said: unknown[]) => void seen.push(said);
  const relay = await start({ leaseMs: 5_000, signalTimeoutMs: 5_000, onEvent });
  await until(() => seen.length > 0);
  await relay.close();
  expect(seen[0]).toEqual([{ state: "waiting", pauseMs: 0 }, 1]);
  expect([await statesOf(subject), temporal.signals]).toEqual([["waiting"], []]);
});

test("a process that does not answer to the word of its surplus holds up no other one", async () => {
  const [flooded, other] = [subjectOf(), subjectOf()];
  let isTold = false;
  let goOn = () => undefined as void;
  const answered = new Promise<void>((resolve) => (goOn = resolve));
  temporal.answer = async ({ workflowId, ids }) => {
    if (workflowId !== flooded.workflowId || ids.length > 0) return;
    isTold = true;
    await answered;
  };
  await arrive(flooded, events(3), { eventsPerProcess: 1 });
  await start();
  await until(() => isTold);
  await arrive(other, events(1));
  await until(async () => (await statesOf(other))[0] === "delivered");
  goOn();
});
