// What becomes of the rows of one process, and in what order, by what Temporal and the database say of them (docs/design.md §7).
import { afterEach, expect, test, vi } from "vitest";
import { FAILURES_UNTIL_ALONE, MAX_FAILURES } from "../../../src/callbacks/inbox/rows.js";
import type { ClaimedRow, Settlement } from "../../../src/callbacks/inbox/rows.js";
import { deliver, itemWordsOf, keepItems } from "../../../src/callbacks/relay/delivery.js";
import type { CarriedSecret, DeliveryTools } from "../../../src/callbacks/relay/delivery.js";
import type { SignalProblem } from "../../../src/callbacks/relay/signaller.js";
import type { HeardItem } from "../../../src/batch/items/items.js";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { sendNoticeBatch } from "../../../src/contracts/send-notice-batch/process.js";
import { sealedPrefix } from "../../../src/contracts/shared/sealed-secret.js";
import { dataError, idsOf, reader, rowOf } from "./claimed.js";

const DAY_MS = 86_400_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const rows = (ids: string, over: Partial<ClaimedRow> = {}) =>
  ids.split(" ").map((Identifier) => rowOf({ Identifier }, over));

/** Temporal says this of a signal that carries the event, and takes all others. */
const says = (problem: SignalProblem, poison: string) => (ids: string[]) =>
  ids.includes(poison) ? problem : undefined;

type Done = [ids: string, result: Settlement | "signalled"][];

/** What is done with the rows, in order. */
async function done(
  given: ClaimedRow[],
  answer: (ids: string[]) => SignalProblem | undefined = () => undefined,
  over: Partial<DeliveryTools> = {},
): Promise<Done> {
  const all: Done = [];
  await deliver(given, {
    ...reader,
    keepSecrets: () => Promise.reject(new Error("no event carries a secret")),
    async signal(events) {
      const ids = events.map(({ id }) => id);
      const problem = answer(ids);
      if (problem === undefined) all.push([ids.join(" "), "signalled"]);
      return problem;
    },
    servesOthers: () => true,
    settle: async (settled, settlement) => void all.push([idsOf(settled), settlement]),
    inTime: () => true,
    ...over,
  });
  return all;
}

const delivered = { state: "delivered" };
const givenBack = { state: "waiting", pauseMs: 0 };
const resting = { state: "waiting", pauseMs: expect.any(Number) };
const failing = { ...resting, isFailure: true };
const refused = { state: "parked", reason: "refusedByTemporal" };

test.each<[SignalProblem, object]>([
  ["late", { state: "late" }],
  ["unknownProcess", { state: "parked", reason: "unknownProcess" }],
  ["refused", refused],
  ["away", givenBack],
  ["timeout", failing],
  ["busy", failing],
  ["failed", failing],
])("a row whose signal has the result: %s", async (problem, settlement) => {
  expect(await done(rows("a"), () => problem)).toEqual([["a", settlement]]);
});

/** Two signals: the first takes 100 events. */
const many = (marked: string) => [...rows(Array(100).fill("x").join(" ")), ...rows(marked)];

test.each<[string, SignalProblem]>([
  ["has ended", "late"],
  ["does not exist", "unknownProcess"],
])(
  "all rows of a process that %s are settled, in as many signals as they take",
  async (_, problem) => {
    const results = (await done(many("a"), () => problem)).map(([, result]) => result);
    expect(results).toHaveLength(2);
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  },
);

test.each<[SignalProblem, object]>([
  ["away", givenBack],
  ["busy", { state: "waiting", pauseMs: 250 }],
])(
  "after a signal that finds Temporal %s no later row is delivered, and the later ones have not failed",
  async (problem, waiting) => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const [first, ...more] = await done(many("a b"), says(problem, "x"));
    expect(first?.[1]).toMatchObject(waiting);
    expect(more).toEqual([["a b", waiting]]);
  },
);

test("a refused event is parked alone, and the others arrive once and in order", async () => {
  expect(await done(rows("a b c d e"), says("refused", "b"))).toEqual([
    ["a", "signalled"],
    ["a", delivered],
    ["b", refused],
    ["c", "signalled"],
    ["c", delivered],
    ["d e", "signalled"],
    ["d e", delivered],
  ]);
});

test("where Temporal goes away while an event is looked for that it refuses, the later ones wait", async () => {
  const answer = (ids: string[]) =>
    ids.length > 2 ? "refused" : ids.includes("b") ? "away" : undefined;
  expect(await done(rows("a b c d"), answer)).toEqual([
    ["a b", givenBack],
    ["c d", givenBack],
  ]);
});

test("an event whose signal cannot be made fails alone, and the others do not wait for it", async () => {
  expect(await done(rows("a b c"), says("failed", "b"))).toEqual([
    ["a", "signalled"],
    ["a", delivered],
    ["b", failing],
    ["c", "signalled"],
    ["c", delivered],
  ]);
});

test("with no time left before the claim ends, nothing is signalled", async () => {
  expect(await done(rows("a b"), undefined, { inTime: () => false })).toEqual([["a b", givenBack]]);
});

test("a signal carries at most 100 events and 256 kB of them; a larger event goes alone", async () => {
  const signalled = async (given: ClaimedRow[]) =>
    (await done(given))
      .filter(([, result]) => result === "signalled")
      .map(([ids]) => ids.split(" ").length);
  expect(await signalled(rows(Array(201).fill("x").join(" ")))).toEqual([100, 100, 1]);
  const sized = (bytes: number) => {
    const { event } = reader.parsers.test({ Identifier: "x", note: "ä" });
    const room = bytes - Buffer.byteLength(JSON.stringify(event));
    return rowOf({ Identifier: "x", note: `ä${"x".repeat(room)}` });
  };
  expect(await signalled([128_000, 128_000, 128_000].map(sized))).toEqual([2, 1]);
  expect(await signalled([128_000, 128_001, 127_999].map(sized))).toEqual([1, 2]);
  expect(await signalled([100_000, 300_000, 100_000].map(sized))).toEqual([1, 1, 1]);
});

const old = { receivedAt: new Date(Date.now() - DAY_MS - 60_000) };
const undeliverable = (how: string) => ({
  ...{ state: "parked", reason: "undeliverable" },
  detail: `${MAX_FAILURES} tries failed; the last one: ${how}`,
});

test.each<[string, SignalProblem, Partial<ClaimedRow>, object]>([
  ["its last failure is one of ours", "failed", {}, undeliverable("the signal cannot be made")],
  [
    ...(["Temporal does not answer for a day", "timeout", old] as const),
    undeliverable("Temporal does not answer for this process in time"),
  ],
  [
    ...(["Temporal is busy for a day", "busy", old] as const),
    undeliverable("Temporal is busy with this process"),
  ],
  ["Temporal is busy for less than a day", "busy", {}, resting],
])("a row that has failed all its tries: %s", async (_, problem, over, result) => {
  const [last] = rows("a", { ...over, failures: MAX_FAILURES - 1 });
  expect(await done([last!], () => problem)).toEqual([["a", result]]);
  const [before] = rows("a", { ...over, failures: MAX_FAILURES - 2 });
  const isCounted = result !== resting;
  expect(await done([before!], () => problem)).toEqual([["a", isCounted ? failing : resting]]);
});

test("for a day, failures of Temporal count until a row is tried alone", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const at = (failures: number, ageMs: number) =>
    rows("a", { failures, receivedAt: new Date(Date.now() - ageMs) });
  const busy = async (given: ClaimedRow[]) => (await done(given, () => "busy"))[0]?.[1];
  expect(await busy(at(FAILURES_UNTIL_ALONE - 1, 0))).toEqual(failing);
  expect(await busy(at(FAILURES_UNTIL_ALONE, DAY_MS))).toEqual(resting);
  expect(await busy(at(FAILURES_UNTIL_ALONE, DAY_MS + 1))).toEqual(failing);
  expect(await busy(at(MAX_FAILURES, DAY_MS + 1))).toEqual(resting);
});

test("rows that fail together count by the newest and by the one with the most failures, and none is parked with others", async () => {
  const busy = async (...given: ClaimedRow[][]) => (await done(given.flat(), () => "busy"))[0]?.[1];
  const alone = { failures: FAILURES_UNTIL_ALONE };
  expect(await busy(rows("a", { ...alone, ...old }), rows("b", alone))).toEqual(resting);
  expect(await busy(rows("a"), rows("b", alone))).toEqual(resting);
  expect(await busy(rows("a", old), rows("b", { ...old, failures: MAX_FAILURES - 1 }))).toEqual(
    failing,
  );
});

test("while Temporal answers nobody, no failure counts, and no row is parked", async () => {
  const given = rows("a", { ...old, failures: MAX_FAILURES - 1 });
  const servesOthers = () => false;
  expect(await done(given, () => "busy", { servesOthers })).toEqual([["a", resting]]);
});

test("a row rests twice as long after each try, a minute at the most; half of it is left to chance", async () => {
  const pauses = async (attempts: number, other = 1) => {
    const both: unknown[] = [];
    for (const chance of [0, 1]) {
      vi.spyOn(Math, "random").mockReturnValue(chance);
      const given = [...rows("a", { attempts }), ...rows("b", { attempts: other })];
      const settlement = (await done(given, () => "busy"))[0]?.[1];
      both.push(settlement instanceof Object && "pauseMs" in settlement && settlement.pauseMs);
    }
    return both;
  };
  expect(await pauses(1)).toEqual([250, 500]);
  expect(await pauses(2)).toEqual([500, 1_000]);
  expect(await pauses(1, 4)).toEqual([2_000, 4_000]);
  for (const attempts of [8, 5_000]) expect(await pauses(attempts)).toEqual([30_000, 60_000]);
});

/** Each event carries what `secretOf` says of it, and those whose ids are in upper case name their process. */
const carrying = (secretOf: (id: string) => string | undefined) => ({
  sources: {
    test: (_: string, body: unknown) => {
      const { event } = reader.parsers.test(body);
      const secret = secretOf(event.id);
      const isReferred = event.id !== event.id.toLowerCase();
      return { event, ...(isReferred && { reference: "r" }), ...(secret && { secret }) };
    },
  },
});
const ofAccount = (ids: string) => rows(ids).map((row) => ({ ...row, account: "default" }));

test("secrets are kept before the signal, but none that looks sealed; it is said which of them found the process", async () => {
  let kept: CarriedSecret[] = [];
  let isSignalled = false;
  const secrets: Record<string, string> = { a: "x", B: "y", c: `${sealedPrefix}abc` };
  const sent = done(ofAccount("a B c d"), () => void (isSignalled = true), {
    ...carrying((id) => secrets[id]),
    keepSecrets: async (carried) => {
      expect(isSignalled).toBe(false);
      kept = carried;
    },
  });
  expect(await sent).toHaveLength(2);
  expect(kept).toEqual([
    { eventId: "a", secret: "x", isOpened: true },
    { eventId: "B", secret: "y", isOpened: false },
  ]);
});

test("an event whose secret the database refuses is parked alone; while it takes none, no event is signalled", async () => {
  const all = carrying((id) => id);
  const poison = async (carried: CarriedSecret[]) => {
    if (carried.some(({ eventId }) => eventId === "b")) throw dataError();
  };
  const detail = "the database refuses it (22021)";
  expect(await done(ofAccount("a b c"), undefined, { ...all, keepSecrets: poison })).toEqual([
    ["a", "signalled"],
    ["a", delivered],
    ["b", { state: "parked", reason: "unreadable", detail }],
    ["c", "signalled"],
    ["c", delivered],
  ]);
  const signal = vi.fn<DeliveryTools["signal"]>();
  const away = new Error("no connection");
  const keepSecrets = () => Promise.reject(away);
  await expect(done(ofAccount("a"), undefined, { ...all, keepSecrets, signal })).rejects.toBe(away);
  expect(signal).not.toHaveBeenCalled();
});

const words = sendNoticeBatch.items;

test("callbacks to a batch's own address report its items; those of an account and of other processes do not", () => {
  const [row] = rows("a", { workflowId: "sendNoticeBatch/1" });
  expect(itemWordsOf(row!)).toBe(words);
  expect(itemWordsOf({ ...row!, account: "default" })).toBeUndefined();
  for (const workflowId of ["sendNotice/1", "somethingElse/1"])
    expect(itemWordsOf({ ...row!, workflowId })).toBeUndefined();
});

test("of an item is noted its state, and at an end its outcome, as far as the words are the provider's", async () => {
  const events: Record<string, Partial<ProviderEvent>> = {
    read: { kind: "Read", evidenceId: "n-1", outcome: "Read" },
    closed: { kind: "Closed", evidenceId: "n-1", outcome: "READ" },
    strange: { kind: "Closed", outcome: "another" },
    unknown: { kind: "Another" },
  };
  const heard: HeardItem[] = [];
  await keepItems(rows("read closed strange unknown"), words, {
    ...{ ...reader, keep: async (items) => void heard.push(...items) },
    parsers: {
      test(body) {
        const { event } = reader.parsers.test(body);
        return { event: { ...event, ...events[event.id] } };
      },
    },
    settle: () => Promise.reject(new Error("all can be read")),
  });
  const at = "2026-01-01T00:00:00.000Z";
  const rankOf = (kind: (typeof words.states)[number]) => words.states.indexOf(kind) + 1;
  expect(heard).toEqual([
    { id: "read", kind: "Read", at, rank: rankOf("Read"), evidenceId: "n-1" },
    {
      id: "closed",
      kind: "Closed",
      at,
      rank: rankOf("Closed"),
      evidenceId: "n-1",
      outcome: "read",
    },
    { id: "strange", kind: "Closed", at, rank: rankOf("Closed") },
    { id: "unknown", kind: "Another", at, rank: 0 },
  ]);
});

test("an item that the database refuses is parked alone, and the others are noted", async () => {
  const noted: string[] = [];
  const parked: [string, Settlement][] = [];
  await keepItems(rows("a b c"), words, {
    ...reader,
    async keep(items) {
      if (items.some(({ id }) => id === "b")) throw dataError();
      noted.push(...items.map(({ id }) => id));
    },
    settle: async (settled, settlement) => void parked.push([idsOf(settled), settlement]),
  });
  expect(noted).toEqual(["a", "c"]);
  expect(parked).toEqual([
    ["b", { state: "parked", reason: "unreadable", detail: "the database refuses it (22021)" }],
  ]);
});
