// The callbacks of a batch's notices, from the provider's POST to the totals: receiver and relays with a real PostgreSQL. None becomes
// a signal.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { BatchItems } from "../../../src/batch/items/items.js";
import { callbackUrl, correlationOf } from "../../../src/callbacks/address.js";
import { CallbackArchive } from "../../../src/callbacks/inbox/archive.js";
import { startReceiver } from "../../../src/callbacks/receiver/receiver.js";
import type { Receiver } from "../../../src/callbacks/receiver/receiver.js";
import { startRelay } from "../../../src/callbacks/relay/relay.js";
import type { Relay } from "../../../src/callbacks/relay/relay.js";
import { parseCallback } from "../../../src/providers/evi-notice/callback.js";
import {
  bodyKeys,
  FakeTemporal,
  parsers,
  post,
  ring,
  sealRing,
  subjectOf,
} from "../../callbacks/support.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import type { TestDatabase } from "../../harness/stack/postgres.js";
import { until } from "../../harness/outages/wait.js";

let database: TestDatabase;
let items: BatchItems;
let archive: CallbackArchive;
let receiver: Receiver;
const relays: Relay[] = [];
beforeAll(async () => {
  database = await testDatabase();
  const { pool } = database;
  items = new BatchItems(pool);
  archive = new CallbackArchive(pool);
  receiver = await startReceiver({ pool, ring, sealRing, host: "127.0.0.1", port: 0 });
});
afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.close())));
afterAll(async () => {
  await receiver.close();
  await database.close();
});

async function relay(temporal: FakeTemporal, parse = parseCallback): Promise<void> {
  const { pool } = database;
  const started = await startRelay({
    ...{ pool, ring, bodyKeys, clientFor: () => temporal },
    ...{ parsers: { ...parsers, "evi-notice": parse } },
    ...{ gatherMs: 5, scanMs: 50, leaseMs: 5_000, signalTimeoutMs: 500 },
  });
  relays.push(started);
}

const batchOf = () =>
  subjectOf({ provider: "evi-notice", workflowId: `sendNoticeBatch/${randomUUID()}` });
type Batch = ReturnType<typeof batchOf>;

function bodyOf(batch: Batch, notice: number, kind: string, second: number): string {
  return JSON.stringify({
    ...{ Identifier: `${notice} ${kind}`, Kind: kind, EvidenceId: `notice-${notice}` },
    ...{ Date: `2026-01-01T00:00:0${second}Z`, EvidenceType: "eviNotice" },
    AdditionalData: {
      ExtraData: correlationOf(ring, batch),
      ...(kind === "Closed" && { Outcome: notice % 2 ? "Refused" : "Read" }),
    },
  });
}

/** As the provider does: what is not answered with 2xx is sent again. Returns how often each status came. */
async function send(batch: Batch, rows: number, bodies: string[]): Promise<Map<number, number>> {
  const url = callbackUrl(ring, receiver.url, batch, { rows });
  const statuses = new Map<number, number>();
  const waiting = bodies.values();
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      for (const body of waiting)
        for (let status = 0; status !== 204 && status !== 429;) {
          ({ status } = await fetch(url, { method: "POST", body }));
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
    }),
  );
  return statuses;
}

const count = async (batch: Batch, state: string) => {
  const { rows } = await database.pool.query<{ count: number }>(
    "select count(*)::int as count from trustflow.callbacks where workflow_id = $1 and state = $2",
    [batch.workflowId, state],
  );
  return rows[0]?.count ?? 0;
};

test("a callback that the database refuses is parked alone, and all others are noted", async () => {
  const [batch, temporal, notices] = [batchOf(), new FakeTemporal(), 9];
  await items.open(batch, notices);
  const bodies = Array.from({ length: notices }, (_, notice) => bodyOf(batch, notice, "Closed", 1));
  await send(batch, notices, bodies);
  await relay(temporal, (...given) => {
    const { event, ...more } = parseCallback(...given);
    const at = event.evidenceId === "notice-4" ? "0000-12-31T23:00:00Z" : event.at;
    return { ...more, event: { ...event, at } };
  });
  await until(async () => (await count(batch, "kept")) === notices - 1);
  await until(async () => (await count(batch, "parked")) === 1);
  const { rows } = await database.pool.query<{ reason: string; detail: string }>(
    "select reason, detail from trustflow.callbacks where workflow_id = $1 and state = 'parked'",
    [batch.workflowId],
  );
  expect(rows).toEqual([{ reason: "unreadable", detail: "the database refuses it (22008)" }]);
});

test("a thousand callbacks, doubled and in disorder, with two relays: exact totals, and no signal", async () => {
  const [batch, temporal, notices] = [batchOf(), new FakeTemporal(), 200];
  await items.open(batch, notices);
  const kinds = ["Sent", "Delivered", "Read", "Closed", "AffidavitPublished"];
  const bodies = Array.from({ length: notices }, (_, notice) =>
    kinds.map((kind, second) => bodyOf(batch, notice, kind, second)),
  ).flat();
  // In an order of their own, the same in each run; each tenth twice.
  const mixed = bodies
    .map((body, index) => ({ body, at: (index * 7_919) % bodies.length }))
    .toSorted((a, b) => a.at - b.at)
    .flatMap(({ body }, index) => (index % 10 === 0 ? [body, body] : [body]));
  await Promise.all([relay(temporal), relay(temporal)]);
  const statuses = await send(batch, 40 * notices, mixed);
  expect(statuses.get(429)).toBeUndefined();
  await until(async () => (await count(batch, "kept")) === bodies.length);
  // A lost settlement: the same callbacks are claimed and noted again.
  await database.pool.query(
    `update trustflow.callbacks set state = 'waiting', claim = null, claimed_until = null, settled_at = null
     where workflow_id = $1 and id % 3 = 0`,
    [batch.workflowId],
  );
  await until(async () => (await count(batch, "kept")) === bodies.length);
  expect(await items.totals(batch)).toMatchObject([
    { state: "Closed", outcome: "read", count: notices / 2 },
    { state: "Closed", outcome: "refused", count: notices / 2 },
  ]);
  const history = await items.history(batch, "notice-7");
  expect(history.map(({ kind }) => kind).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    kinds.toSorted((a, b) => (a < b ? -1 : 1)),
  );
  expect([temporal.signals, temporal.surplus]).toEqual([[], []]);
});

test("what cannot be read, or is not the batch's, is parked; of it nothing is noted", async () => {
  const [batch, temporal] = [batchOf(), new FakeTemporal()];
  await items.open(batch, 3);
  await send(batch, 120, [
    JSON.stringify({ Identifier: "unreadable" }),
    bodyOf(batch, 1, "Sent", 0).replace(correlationOf(ring, batch), "another's"),
    bodyOf(batch, 2, "Sent", 0),
  ]);
  await relay(temporal);
  await until(async () => (await count(batch, "waiting")) === 0);
  const states = (await archive.list({ workflowId: batch.workflowId })).map(
    ({ state, reason }) => reason ?? state,
  );
  expect(states.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    ...["correlationMismatch", "kept", "unreadable"],
  ]);
  expect(await items.totals(batch)).toMatchObject([{ state: "Sent", count: 1 }]);
  expect(temporal.signals).toEqual([]);
});

test("the address says how many it may bring: all of them wait, the next is refused, and no process is told", async () => {
  const [batch, temporal] = [batchOf(), new FakeTemporal()];
  await items.open(batch, 300);
  const bodies = Array.from({ length: 301 }, (_, notice) => bodyOf(batch, notice, "Sent", 0));
  expect(Object.fromEntries(await send(batch, 300, bodies))).toEqual({ 204: 300, 429: 1 });
  expect([await count(batch, "waiting"), await count(batch, "surplus")]).toEqual([300, 0]);
  await relay(temporal);
  await until(async () => (await count(batch, "kept")) === 300);
  expect(await items.totals(batch)).toMatchObject([{ state: "Sent", count: 300 }]);
  // Another process's address next to it has its own, usual number.
  const single = subjectOf();
  expect((await post(receiver.url, single, { Identifier: "a" })).status).toBe(204);
  await until(() => temporal.to(single.workflowId).includes("a"));
  expect(temporal.surplus).toEqual([]);
});
