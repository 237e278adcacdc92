// The callbacks of a batch's notices, from the provider's POST to the totals: receiver and relays with a real PostgreSQL. None becomes
// a signal.
import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { BatchItems } from "../../../src/batch/items/items.js";
import { callbackUrl, correlationOf } from "../../../src/callbacks/address.js";
import { startReceiver } from "../../../src/callbacks/receiver/receiver.js";
import { Relay } from "../../../src/callbacks/relay/relay.js";
import { parseCallback } from "../../../src/providers/evi-notice/callback.js";
import {
  bodyKeys,
  FakeTemporal,
  parsers,
  ring,
  sealRing,
  subjectOf,
} from "../../callbacks/support.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { ofFile } from "../../harness/of-file.js";
import { until } from "../../harness/outages/wait.js";

const database = ofFile(testDatabase);
const items = ofFile(() => new BatchItems(database.pool));
const receiver = ofFile(() =>
  startReceiver({ pool: database.pool, ring, sealRing, host: "127.0.0.1", port: 0 }),
);
const relays: Relay[] = [];
/** What the relays have settled, as their metrics count it. */
const settled = new Map<string, number>();
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
  settled.clear();
});

async function relay(temporal: FakeTemporal, parse = parseCallback): Promise<void> {
  const { pool } = database;
  const started = new Relay({
    ...{ pool, ring, bodyKeys, clientFor: () => temporal },
    ...{ parsers: { ...parsers, "evi-notice": parse } },
    ...{ gatherMs: 5, scanMs: 50, leaseMs: 5_000, signalTimeoutMs: 500 },
    onEvent: ({ state }, count) => void settled.set(state, (settled.get(state) ?? 0) + count),
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

test("what cannot be read, is not the batch's, or is refused by the database is parked alone, and all others are noted", async () => {
  const [batch, temporal] = [batchOf(), new FakeTemporal()];
  await items.open(batch, 9);
  const bodies = Array.from({ length: 9 }, (_, notice) => bodyOf(batch, notice, "Sent", 1));
  bodies[2] = JSON.stringify({ Identifier: "unreadable" });
  bodies[3] = bodyOf(batch, 3, "Sent", 1).replace(correlationOf(ring, batch), "another's");
  await send(batch, 360, bodies);
  await relay(temporal, (...given) => {
    const { event, ...more } = parseCallback(...given);
    const at = event.evidenceId === "notice-4" ? "0000-12-31T23:00:00Z" : event.at;
    return { ...more, event: { ...event, at } };
  });
  await until(async () => (await count(batch, "waiting")) === 0);
  const { rows } = await database.pool.query<{ reason: string; detail: string }>(
    `select reason, detail from trustflow.callbacks where workflow_id = $1 and state = 'parked'
     order by reason, detail`,
    [batch.workflowId],
  );
  expect(rows).toMatchObject([
    { reason: "correlationMismatch" },
    { reason: "unreadable" },
    { reason: "unreadable", detail: "the database refuses it (22008)" },
  ]);
  expect(await items.totals(batch)).toMatchObject([{ state: "Sent", count: 6 }]);
  await until(() => settled.get("parked") === 3);
  expect(settled.get("kept")).toBe(6);
  expect(temporal.signals).toEqual([]);
});

test("hundreds of callbacks, doubled and in disorder, with two relays: exact totals, and no signal", async () => {
  const [batch, temporal, notices] = [batchOf(), new FakeTemporal(), 60];
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

test("the address says how many it may bring: all of them wait, the next is refused, and no process is told", async () => {
  const [batch, temporal] = [batchOf(), new FakeTemporal()];
  await items.open(batch, 50);
  const bodies = Array.from({ length: 51 }, (_, notice) => bodyOf(batch, notice, "Sent", 0));
  expect(Object.fromEntries(await send(batch, 50, bodies))).toEqual({ 204: 50, 429: 1 });
  expect([await count(batch, "waiting"), await count(batch, "surplus")]).toEqual([50, 0]);
  await relay(temporal);
  await until(async () => (await count(batch, "kept")) === 50);
  expect(await items.totals(batch)).toMatchObject([{ state: "Sent", count: 50 }]);
  expect([temporal.signals, temporal.surplus]).toEqual([[], []]);
});
