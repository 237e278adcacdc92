// When a relay looks at the inbox: soon after a notification, later where that fails or holds up others. PostgreSQL is real.
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { Inbox, inboxChannel } from "../../../src/callbacks/inbox/inbox.js";
import { WakeSignal } from "../../../src/callbacks/relay/signaller.js";
import { subjectOf } from "../support.js";
import { until } from "../../harness/outages/wait.js";
import { grpc, relayStand } from "./relay-stand.js";

const { temporal, database, archive, start, arrive, without } = relayStand({
  ...{ gatherMs: 5, scanMs: 600_000 },
});
afterEach(() => void vi.restoreAllMocks());

test("before its first look a relay is not ready; its end waits for no look", async () => {
  const relay = await start({ gatherMs: 600_000 });
  const health = { listening: true, reading: false, pausedNamespaces: [] };
  expect(relay.health()).toStrictEqual(health);
  await relay.close();
  expect(relay.health()).toStrictEqual({ ...health, listening: false });
});

test("a look that fails is made again, each time later; after a good one it begins anew", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.25);
  const wakeIn = vi.spyOn(WakeSignal.prototype, "wakeIn");
  const wait = vi.spyOn(WakeSignal.prototype, "wait");
  const notify = () => database.pool.query(`notify ${inboxChannel}`);
  await start();
  for (const count of [1, 2]) {
    // It finds something, so it does not rest.
    await arrive(subjectOf(), [{ Identifier: "a" }]);
    await until(async () => (await archive.counts()).delivered === count);
    // The look that delivered may not have ended yet, and must be a good one.
    const waits = wait.mock.calls.length;
    await notify();
    await until(() => wait.mock.calls.length > waits);
    wakeIn.mockClear();
    await without("callbacks", async () => {
      await notify();
      await until(() => wakeIn.mock.calls.length === 2);
    });
    expect(wakeIn.mock.calls).toEqual([[0.75 * 250], [0.75 * 500]]);
  }
});

test("after a claim that found nothing a relay rests four times as long as that took, so that it holds up no other", async () => {
  const { claim } = Inbox.prototype;
  const claimedAt: number[] = [];
  vi.spyOn(Inbox.prototype, "claim").mockImplementation(async function slowly(
    this: Inbox,
    ...given
  ) {
    claimedAt.push(performance.now());
    await delay(200);
    return claim.apply(this, given);
  });
  await start({ scanMs: 5 });
  let fruitful = 0;
  temporal.answer = () => void (fruitful = claimedAt.length);
  await until(() => claimedAt.length === 2);
  const [first = 0, second = 0] = claimedAt;
  expect(second - first).toBeGreaterThan(950);
  await arrive(subjectOf(), [{ Identifier: "a" }]);
  await until(() => fruitful > 0 && claimedAt.length > fruitful);
  expect(claimedAt[fruitful]! - claimedAt[fruitful - 1]!).toBeLessThan(950);
});

test("a callback that could not be delivered is tried again after its pause, without a notification", async () => {
  let tries = 0;
  temporal.answer = () => {
    tries += 1;
    if (tries === 1) throw grpc(13, "internal");
  };
  await start();
  await arrive(subjectOf(), [{ Identifier: "a" }]);
  await until(async () => (await archive.counts()).delivered === 1);
});

test("at each look judged tokens are looked for, but the settled ones are forgotten once a minute", async () => {
  const query = vi.spyOn(database.pool, "query");
  const asked = (text: string) =>
    query.mock.calls.filter(([sql]) => JSON.stringify(sql).includes(text));
  await start({ scanMs: 5 });
  await until(() => asked("pg_advisory_xact_lock").length === 4);
  expect(asked("t.judged_at is not null").length).toBeGreaterThanOrEqual(4);
  expect(asked("delete from trustflow.unaddressed_tokens")).toHaveLength(1);
});
