// What Prometheus reads of a relay (docs/reference/metrics.md), with a real PostgreSQL.
import { expect, test } from "vitest";
import { parkReasons } from "../../../src/callbacks/inbox/rows.js";
import { relayMetrics } from "../../../src/callbacks/relay/metrics.js";
import type { RelaySources } from "../../../src/callbacks/relay/metrics.js";
import { createPool } from "../../../src/postgres/pool.js";
import { subjectOf } from "../support.js";
import { relayStand } from "./relay-stand.js";

const { database, arrive } = relayStand({});

/** Metrics of these sources, and what they say: each series with its value. */
function stand(over: Partial<RelaySources> = {}) {
  const all = relayMetrics({
    ...{ pool: database.pool, isListening: () => true, stuck: () => undefined },
    ...{ attentions: async () => ({}), open: async () => ({}) },
    ...over,
  });
  const series = async () =>
    Object.fromEntries(
      (await all.metrics())
        .split("\n")
        .filter((line) => line.startsWith("trustflow_"))
        .map((line) => /^(.*) (.*)$/.exec(line) ?? [])
        .map(([, name = "", value]) => [name.slice("trustflow_".length), Number(value)]),
    );
  return { ...all, series };
}

const counted = (result: string, reason?: string) =>
  `relay_callbacks_total{result="${result}"${reason ? `,reason="${reason}"` : ""}}`;
const inInbox = (state: string) => `inbox_callbacks{state="${state}"}`;

const quiet = {
  ...Object.fromEntries(["delivered", "late", "kept", "waiting"].map((one) => [counted(one), 0])),
  ...Object.fromEntries(parkReasons.map((reason) => [counted("parked", reason), 0])),
  ...{ relay_wakes_total: 0, relay_listening: 1, callback_addresses_flooded: 0 },
  ...Object.fromEntries(
    ["unaddressed", "waiting", "parked", "surplus"].map((state) => [inInbox(state), 0]),
  ),
  ...{ inbox_lag_seconds: 0, cleanup_age_seconds: expect.closeTo(0, -3) as number },
};

test("before anything has happened each count is there, as 0", async () => {
  const { series, contentType } = stand();
  expect(await series()).toEqual(quiet);
  expect(contentType).toContain("text/plain");
});

test("what a relay does is counted by its result, and parked callbacks by their reason", async () => {
  const { series, onEvent, onWake } = stand({ isListening: () => false });
  onEvent({ state: "delivered" }, 3);
  onEvent({ state: "delivered" }, 2);
  onEvent({ state: "waiting", pauseMs: 1 }, 1);
  onEvent({ state: "parked", reason: "unmatched", detail: "why" }, 4);
  onWake();
  expect(await series()).toEqual({
    ...{ ...quiet, relay_wakes_total: 1, relay_listening: 0 },
    ...{ [counted("delivered")]: 5, [counted("waiting")]: 1, [counted("parked", "unmatched")]: 4 },
  });
});

test("each scrape counts the inbox anew, and says how long the oldest callback has waited", async () => {
  const { series } = stand();
  const events = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ Identifier: `e-${index}` }));
  await arrive(subjectOf(), events(4), { eventsPerProcess: 3 });
  await arrive({ provider: "test-account", account: "default" }, events(2));
  await database.pool.query(
    `update trustflow.callbacks set state = 'parked', reason = 'unreadable', settled_at = now()
     where identifier = 'e-0' and state = 'waiting'`,
  );
  await database.pool.query(
    "update trustflow.callbacks set received_at = received_at - interval '1 hour' where identifier = 'e-1'",
  );
  const { inbox_lag_seconds: lag = 0, ...more } = await series();
  expect(lag).toBeGreaterThan(3_599);
  expect(lag).toBeLessThan(3_700);
  expect(more).toMatchObject({
    ...{ [inInbox("waiting")]: 2, [inInbox("parked")]: 1, [inInbox("surplus")]: 1 },
    ...{ [inInbox("unaddressed")]: 2, callback_addresses_flooded: 1 },
  });
  await database.pool.query("update trustflow.callback_addresses set counted_on = counted_on - 2");
  // As an erasure, or the clean-up, leaves it.
  await database.pool.query("update trustflow.callbacks set body = null where state = 'parked'");
  expect(await series()).toMatchObject({
    ...{ callback_addresses_flooded: 0, [inInbox("parked")]: 0 },
  });
  await database.pool.query("truncate trustflow.callbacks, trustflow.callback_addresses");
  expect(await series()).toEqual(quiet);
});

test("processes and webhooks are counted by their labels, and a count that is gone is not shown", async () => {
  let found: Record<string, number> = { one: 1, two: 2 };
  let deliveries = [{ endpoint: "own", state: "failed", count: 5 }];
  const { series } = stand({
    attentions: async () => found,
    open: async () => found,
    stuck: () => found,
    webhooks: async () => deliveries,
  });
  const shown = Object.fromEntries(
    ["processes_in_attention{kind", "processes_open{process", "processes_stuck{repaired"].flatMap(
      (label) => Object.entries(found).map(([value, count]) => [`${label}="${value}"}`, count]),
    ),
  );
  const failed = { 'webhook_deliveries{endpoint="own",state="failed"}': 5 };
  expect(await series()).toEqual({ ...quiet, ...shown, ...failed });
  found = {};
  deliveries = [];
  expect(await series()).toEqual(quiet);
});

test("a value that cannot be read is left out, and the others are there", async () => {
  const pool = createPool(database.url);
  const fails = () => Promise.reject(new Error("no answer"));
  let isAway = false;
  const read = async <T>(value: T) => (isAway ? fails() : value);
  const { series } = stand({
    ...{ pool, attentions: () => read({ one: 1 }), open: () => read({ one: 1 }) },
    webhooks: () => read([{ endpoint: "own", state: "failed", count: 5 }]),
  });
  expect(Object.keys(await series())).toHaveLength(Object.keys(quiet).length + 3);
  isAway = true;
  await pool.end();
  const names = Object.keys(quiet).filter((name) => !/inbox|flooded|cleanup/.test(name));
  expect(await series()).toEqual(
    Object.fromEntries(names.map((name) => [name, name === "relay_listening" ? 1 : 0])),
  );
});
