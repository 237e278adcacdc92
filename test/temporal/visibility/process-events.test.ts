// What the looks for events make of visibility: what it shows late is found, and what a stranger may have written there is not told.
import { afterEach, beforeEach, expect, vi, test } from "vitest";
import { defaultPayloadConverter } from "@temporalio/common";
import { statusMemo } from "../../../src/contracts/shared/names.js";
import type { ProcessEvent } from "../../../src/contracts/process-event.js";
import { EventLooks } from "../../../src/temporal/visibility/process-events.js";
import { clientOf } from "./listed-processes.js";
import type { Listed } from "./listed-processes.js";

const MINUTE = 60_000;
const now = new Date("2026-01-02T12:00:00.000Z");
const ago = (minutes: number) => new Date(now.getTime() - minutes * MINUTE);
const done = (id: string, minutes: number): Listed => ({
  ...{ id, status: "completed", closedAt: ago(minutes), outcome: "delivered" },
});
let listed: Listed[];
let told: ProcessEvent[];

beforeEach(() => {
  vi.useFakeTimers({
    now,
    toFake: ["Date", "performance", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
  });
  [listed, told] = [[], []];
});
afterEach(() => void vi.useRealTimers());

function looksFrom(position: Date, floor: Date) {
  const { client, queries, faults } = clientOf(() => listed);
  const looks = new EventLooks(client, { position, floor });
  return {
    looks,
    queries,
    faults,
    /** The ids of the processes that a look tells of. */
    async look(): Promise<string[]> {
      const before = told.length;
      const known = new Set(told.map(({ id }) => id));
      for await (const events of looks.look(async () => known)) told.push(...events);
      return told.slice(before).map(({ data }) => data.id);
    },
  };
}

test("a process that visibility shows late is found: within two minutes at once, within the hour by the next wide look", async () => {
  const { looks, look } = looksFrom(ago(0), ago(600));
  expect(await look()).toEqual([]);
  listed.push(done("soon", 1), done("late", 50), done("too late", 70));
  expect(await look()).toEqual(["soon"]);
  expect(looks.position).toEqual(ago(0));
  vi.advanceTimersByTime(6 * MINUTE);
  expect(await look()).toEqual(["late"]);
  expect(await look()).toEqual([]);
});

test("nothing is told from before the floor, and the position follows the newest end, never more than an hour behind", async () => {
  const { looks, look } = looksFrom(ago(600), ago(600));
  listed.push(done("before", 601), done("after", 599));
  expect(await look()).toEqual(["after"]);
  expect(looks.position).toEqual(ago(60));
  listed.push(done("newest", 5));
  await look();
  expect(looks.position).toEqual(ago(5));
});

test("a look that fails does not move the position", async () => {
  const { client } = clientOf(() => {
    throw new Error("away");
  });
  const looks = new EventLooks(client, { position: ago(600), floor: ago(600) });
  await expect(looks.look(async () => new Set()).next()).rejects.toThrow();
  expect(looks.position).toEqual(ago(600));
});

test("a hundred ends cost one question, and the same end has the same id", async () => {
  listed = Array.from({ length: 100 }, (_, index) => done(String(index), 1));
  const one = looksFrom(ago(10), ago(10));
  await one.look();
  expect(one.queries).toHaveLength(2);
  const ids = told.map(({ id }) => id);
  told = [];
  await looksFrom(ago(10), ago(10)).look();
  expect(told.map(({ id }) => id)).toEqual(ids);
  expect(new Set(ids).size).toBe(100);
});

test("an end has the outcome or the type of the failure, and only where it is a word of ours", async () => {
  const closedAt = ago(1);
  listed = [
    { ...done("outcome", 1) },
    { ...done("forged outcome", 1), outcome: "Ana Ruiz, Calle Mayor 1" },
    { id: "failed", status: "failed", failure: "NotAccepted", closedAt },
    { id: "forged failure", status: "failed", failure: "Ana Ruiz", closedAt },
    { id: "timedOut", status: "timedOut", closedAt },
  ];
  // An id with a blank is none of ours.
  listed = listed.map((one) => ({ ...one, id: one.id.replace(" ", "-") }));
  await looksFrom(ago(10), ago(10)).look();
  expect(told.map(({ data }) => data)).toEqual(
    [
      { id: "outcome", outcome: "delivered" },
      { id: "forged-outcome" },
      { id: "failed", failure: "NotAccepted" },
      { id: "forged-failure", failure: "Error" },
      { id: "timedOut", failure: "Stopped" },
    ].map(withRun),
  );
});

const withRun = <T extends { id: string }>(data: T) => ({
  ...{ process: "sendPostal", runId: `run of ${data.id}` },
  ...data,
});

const attention = (id: string, more = {}) => ({
  ...{ id, kind: "protocol", since: "2026-01-02T11:00:00.000Z", step: "ask", reason: "Ana Ruiz" },
  ...more,
});
const shownIn = (id: string, status: object) => ({
  [statusMemo]: defaultPayloadConverter.toPayload({
    ...{ process: "sendPostal", id, phase: "tracking", references: {}, timeline: [] },
    ...status,
  }),
});

test("each attention is told once, by its id and kind; without a readable status by its kind", async () => {
  const asking = (id: string, memo?: Listed["memo"]): Listed => ({
    ...{ id, status: "running", attention: "protocol" },
    ...(memo && { memo }),
  });
  const moreAttentions = [attention("ask-2", { kind: "unavailable" })];
  listed = [
    asking("two", shownIn("two", { attention: attention("ask-1"), moreAttentions })),
    asking("forged", shownIn("forged", { attention: attention("Ana Ruiz") })),
    asking("unreadable"),
    { ...asking("unknown"), attention: "Ana Ruiz" },
  ];
  const { look } = looksFrom(ago(10), ago(10));
  await look();
  expect(told.map(({ data }) => data)).toEqual(
    [
      { id: "two", attention: { id: "ask-1", kind: "protocol" } },
      { id: "two", attention: { id: "ask-2", kind: "unavailable" } },
      { id: "unreadable", attention: { kind: "protocol" } },
    ].map(withRun),
  );
  expect(told[0]?.timestamp).toBe("2026-01-02T11:00:00.000Z");
  expect(await look()).toEqual([]);
  // As after a repair: the attention of before is open in another run.
  const again = { attention: attention("ask-1"), moreAttentions: [attention("ask-3")] };
  listed = [{ ...asking("two", shownIn("two", again)), runId: "run of the repair" }];
  expect(await look()).toEqual(["two"]);
  expect(told.at(-1)?.data).toMatchObject({ attention: { id: "ask-3" } });
});

test("a forged attention hides no other, and a time is told in UTC or not at all", async () => {
  const asking = (id: string, status: object): Listed => ({
    ...{ id, status: "running", attention: "protocol", memo: shownIn(id, status) },
  });
  const since = "2026-01-02T11:00:00Z";
  const forged = [
    null,
    7,
    "Ada Byron",
    attention("ask-1", { since: "Ada Byron 1" }),
    attention("ask-2", { since: "2026-13-02T11:00:00Z" }),
    // PostgreSQL knows no such year.
    attention("ask-2", { since: "0000-01-01T00:00:00Z" }),
    attention("ask-3", { since: 1 }),
    attention("ask-4", { kind: ["protocol"] }),
    { ...attention("x"), id: ["ask-5"] },
  ];
  listed = [
    asking("forged", { attention: { toString: "x" }, moreAttentions: forged }),
    asking("open", { attention: attention("ask-6", { since }) }),
  ];
  expect(await looksFrom(ago(10), ago(10)).look()).toEqual(["open"]);
  expect(told[0]?.timestamp).toBe("2026-01-02T11:00:00.000Z");
});

test("a process that cannot be read delays no other, and the position waits for it", async () => {
  listed = [{ id: "bad", status: "failed", failure: "Abandoned", closedAt: ago(1) }, done("a", 1)];
  const asking: Listed = { id: "b", status: "running", attention: "protocol" };
  listed.push(asking);
  const { looks, look, faults } = looksFrom(ago(10), ago(10));
  faults.add("bad");
  await expect(look()).rejects.toThrow("bad cannot be read");
  expect(told.map(({ data }) => data.id)).toEqual(["a", "b"]);
  expect(looks.position).toEqual(ago(10));
  faults.clear();
  expect(await look()).toEqual(["bad"]);
  expect(looks.position).toEqual(ago(1));
});

test("an end in the future, by a clock that is ahead, takes the position no further than now", async () => {
  const { looks, look } = looksFrom(ago(10), ago(10));
  listed.push(done("ahead", -600));
  expect(await look()).toEqual(["ahead"]);
  expect(looks.position).toEqual(ago(0));
  vi.advanceTimersByTime(5 * MINUTE);
  listed.push(done("next", -4));
  expect(await look()).toEqual(["next"]);
});
