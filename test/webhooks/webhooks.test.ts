// The relay's webhooks with a real PostgreSQL and real receivers: at least once, with one id; an endpoint that is away delays no other, and
// nothing is dropped in silence. What visibility shows is the test's.
import { afterEach, beforeEach, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import type { ProcessEvent } from "../../src/contracts/process-event.js";
import { Deliveries } from "../../src/webhooks/deliveries.js";
import { Outbox } from "../../src/webhooks/outbox.js";
import type { Endpoint } from "../../src/webhooks/outbox.js";
import { keyOf, newSecret } from "../../src/webhooks/signature.js";
import { startWebhooks } from "../../src/webhooks/webhooks.js";
import type { Webhooks } from "../../src/webhooks/webhooks.js";
import { eventually } from "../harness/outages/wait.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { startReceiver } from "./receiver.js";
import type { Receiver } from "./receiver.js";
import { ofFile } from "../harness/of-file.js";

const secret = newSecret();
let receivers: Record<"good" | "bad", Receiver>;
let running: Webhooks[];
/** What the next looks find. */
let shown: ProcessEvent[];
let warnings: unknown[][];

const database = ofFile(() => testDatabase({ hasClock: true }));
const deliveries = ofFile(() => new Deliveries(database.pool, "default"));
beforeEach(async () => {
  await database.pool.query("truncate trustflow.process_events, trustflow.erasures cascade");
  receivers = { good: await startReceiver(secret), bad: await startReceiver(secret) };
  [running, shown, warnings] = [[], [], []];
});
afterEach(async () => {
  // First, so that no attempt waits for an answer.
  for (const receiver of Object.values(receivers)) await receiver.close();
  await Promise.all(running.map((one) => one.close()));
});

const endpoint = (name: "good" | "bad", more: Partial<Endpoint> = {}): Endpoint => ({
  name,
  url: receivers[name].url,
  keys: [keyOf(secret) ?? Buffer.alloc(0)],
  events: ["process.ended", "process.needsDecision"],
  allowPrivate: true,
  ...more,
});

function start(endpoints: Endpoint[]): void {
  running.push(
    startWebhooks({
      ...{ pool: database.pool, namespace: "default", endpoints },
      looksFrom: ({ position }) => ({
        position,
        async *look(knownAmong) {
          const known = await knownAmong(shown.map(({ id }) => id));
          yield shown.filter(({ id }) => !known.has(id));
        },
      }),
      mayLook: async () => true,
      lookMs: 50,
      sendMs: 50,
      logger: { info: () => undefined, warn: (...said) => void warnings.push(said) },
    }),
  );
}

function ended(id: string): ProcessEvent {
  const data = { process: "sendPostal" as const, id, runId: randomUUID(), outcome: "delivered" };
  return { id: `evt_${id}`, type: "process.ended", timestamp: "2026-01-02T03:04:05.678Z", data };
}

const states = async (filter = {}) =>
  (await deliveries.list(filter)).map(({ endpoint, state }) => `${endpoint} ${state}`).toSorted();

test("each event is told once to each endpoint that wants it, also by two relays", async () => {
  shown = Array.from({ length: 30 }, (_, index) => ended(String(index)));
  const asking: ProcessEvent = {
    ...{ id: "evt_asking", type: "process.needsDecision", timestamp: "2026-01-02T03:04:05.000Z" },
    data: {
      process: "sendPostal",
      id: "x",
      runId: "r",
      attention: { id: "a-1", kind: "protocol" },
    },
  };
  shown.push(asking);
  const both = [endpoint("good"), endpoint("bad", { events: ["process.needsDecision"] })];
  start(both);
  start(both);
  await eventually("all are delivered", async () => {
    const found = await states({ states: ["delivered"] });
    return found.length === 32;
  });
  expect(receivers.good.heard.map(({ id }) => id).toSorted()).toEqual(
    shown.map(({ id }) => id).toSorted(),
  );
  expect(receivers.good.heard).toContainEqual(shown[0]);
  expect(receivers.bad.heard).toEqual([asking]);
});

test("an endpoint that is away delays no other; it is tried again with the same id", async () => {
  shown = Array.from({ length: 12 }, (_, index) => ended(String(index)));
  receivers.bad.answer(500);
  start([endpoint("bad"), endpoint("good")]);
  await eventually("the good one has all", () => receivers.good.heard.length === 12);
  await eventually("the bad one was tried", () => receivers.bad.heard.length === 12);
  receivers.bad.answer(200);
  await database.pool.query(
    "update trustflow.webhook_deliveries set due_at = now() where state = 'waiting'",
  );
  await eventually(
    "it has all",
    async () => (await states({ states: ["delivered"] })).length === 24,
  );
  const ids = receivers.bad.heard.map(({ id }) => id);
  expect(new Set(ids).size).toBe(12);
  const [last] = await deliveries.list({ endpoint: "bad", limit: 1 });
  expect(last?.attempts.map(({ status }) => status)).toEqual([500, 200]);
});

test("after `Retry-After` the next attempt waits that long, and the answer is kept as any other", async () => {
  shown = [ended("a")];
  receivers.bad.answer(429, { "retry-after": "600" });
  start([endpoint("bad")]);
  const [one] = await eventually("the first attempt is noted", async () => {
    const found = await deliveries.list();
    return found[0]?.attempts.length === 1 && found;
  });
  const [attempt] = one!.attempts;
  expect(Object.keys(attempt!).toSorted()).toEqual(["at", "ms", "status"]);
  const pauseMs = one!.dueAt!.getTime() - Date.parse(attempt!.at);
  expect(pauseMs).toBeGreaterThan(595_000);
  expect(pauseMs).toBeLessThan(670_000);
});

test("an endpoint that never answers has four attempts under way, and delays no other", async () => {
  shown = Array.from({ length: 12 }, (_, index) => ended(String(index)));
  receivers.bad.answer(0);
  start([endpoint("bad"), endpoint("good")]);
  await eventually("the good one has all", () => receivers.good.heard.length === 12);
  await eventually("its attempts", () => receivers.bad.heard.length >= 4);
  expect(receivers.bad.heard).toHaveLength(4);
});

test("after the last attempt that is answered no 2xx, a redirect too, it has failed, is logged, and can be replayed", async () => {
  shown = [ended("a")];
  receivers.bad.answer(301, { location: receivers.good.url });
  start([endpoint("bad")]);
  await eventually("the first attempt", () => receivers.bad.heard.length === 1);
  for (let tries = 2; tries <= 10; tries += 1) {
    await eventually(
      "it waits",
      async () => (await deliveries.list())[0]?.attempts.length === tries - 1,
    );
    expect(await states()).toEqual(["bad waiting"]);
    const state = tries > 3 ? "retried" : "waiting";
    expect(await deliveries.unsettled(["bad"])).toEqual([{ endpoint: "bad", state, count: 1 }]);
    receivers.bad.answer(410);
    await database.pool.query("update trustflow.webhook_deliveries set due_at = now()");
  }
  await eventually("it has failed", async () => (await states())[0] === "bad failed");
  expect(warnings).toEqual([
    [
      expect.stringContaining("is not sent again"),
      expect.objectContaining({ step: "bad", tries: 10, status: 410 }),
    ],
  ]);
  expect(await deliveries.unsettled(["bad"])).toEqual([
    { endpoint: "bad", state: "failed", count: 1 },
  ]);
  // No longer configured: nobody can do anything about it.
  expect(await deliveries.unsettled(["good"])).toEqual([]);
  expect(receivers.good.heard).toEqual([]);

  expect(await deliveries.replayFailed("bad")).toHaveLength(1);
  await eventually("the replay is not taken", async () => {
    const [one] = await deliveries.list();
    return one?.attempts.length === 11;
  });
  expect(await states()).toEqual(["bad waiting"]);
  receivers.bad.answer(200);
  await database.pool.query("update trustflow.webhook_deliveries set due_at = now()");
  await eventually("it is delivered", async () => (await states())[0] === "bad delivered");
  expect(new Set(receivers.bad.heard.map(({ id }) => id))).toEqual(new Set(["evt_a"]));
});

test("what a killed relay has taken goes to another one, and its late answer changes nothing", async () => {
  shown = [ended("a")];
  const outbox = new Outbox(database.pool, "default");
  await outbox.store(shown, [endpoint("good")]);
  const [killed, other] = [randomUUID(), randomUUID()];
  const [due] = await deliveries.take(killed, "good", 5, 60_000);
  expect(due?.event).toEqual(shown[0]);
  expect(await deliveries.take(other, "good", 5, 60_000)).toEqual([]);
  await database.pass(60_000);
  const [again] = await deliveries.take(other, "good", 5, 60_000);
  const attempt = { at: new Date().toISOString(), ms: 1, status: 200 };
  await deliveries.settle(killed, due!, attempt, "delivered");
  expect(await states()).toEqual(["good waiting"]);
  await deliveries.settle(other, again!, attempt, "delivered");
  expect(await states()).toEqual(["good delivered"]);
});

test("relays of two namespaces with the same endpoint take, count and replay only their own", async () => {
  const other = new Deliveries(database.pool, "other");
  const claim = randomUUID();
  for (const namespace of ["default", "other"])
    await new Outbox(database.pool, namespace).store(
      [{ ...ended("a"), id: namespace }],
      [endpoint("good")],
    );
  await other.test("good");
  const due = await deliveries.take(claim, "good", 5, 60_000);
  expect(due.map(({ event }) => event.id)).toEqual(["default"]);
  const attempt = { at: new Date().toISOString(), ms: 1, status: 410 };
  await deliveries.settle(claim, due[0]!, attempt, { pauseMs: undefined });
  const own = ["good"];
  expect(await deliveries.unsettled(own)).toEqual([
    { endpoint: "good", state: "failed", count: 1 },
  ]);
  expect(await other.unsettled(own)).toEqual([{ endpoint: "good", state: "waiting", count: 2 }]);
  expect((await other.list()).map(({ event }) => event.type)).toEqual([
    "webhook.test",
    "process.ended",
  ]);
  expect(await other.show(due[0]!.id)).toBeUndefined();
  expect(await other.replayFailed("good")).toEqual([]);
  expect(await other.replay([due[0]!.id])).toEqual([]);
  expect(await deliveries.replayFailed("good")).toEqual([due[0]!.id]);
});

test("a test of an endpoint comes before the backlog", async () => {
  await new Outbox(database.pool, "default").store(["a", "b"].map(ended), [endpoint("bad")]);
  const id = await deliveries.test("bad");
  const [first] = await deliveries.take(randomUUID(), "bad", 1, 60_000);
  expect(first?.id).toBe(id);
});

test("of an erased process nothing is stored", async () => {
  await database.pool.query(
    "insert into trustflow.erasures (namespace, workflow_id, erased_by) values ('default', 'sendPostal/a', 'ana')",
  );
  const outbox = new Outbox(database.pool, "default");
  expect(await outbox.store([ended("a"), ended("b")], [endpoint("good")])).toBe(1);
  expect(await outbox.knownAmong(["evt_a", "evt_b"])).toEqual(new Set(["evt_b"]));
});

test("the looks go on from where the last one has come to", async () => {
  const outbox = new Outbox(database.pool, "another");
  const { position, floor } = await outbox.position();
  expect(position).toEqual(floor);
  const later = new Date(position.getTime() + 1_000);
  await outbox.move(later);
  await outbox.move(position);
  expect(await outbox.position()).toEqual({ position: later, floor });
});
