// However many callbacks a process gets, and whatever they say: its timeline fits into a status and a result
// (docs/decisions/0020).
import { expect, test } from "vitest";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import type { TimelineEntry } from "../../../src/contracts/shared/status.js";
import {
  EventLog,
  plainView,
  bounded,
  MAX_TIMELINE_BYTES,
  newest,
} from "../../../src/workflows/runtime/event-log.js";
import type { View } from "../../../src/workflows/runtime/event-log.js";

const emptyLog = () => new EventLog<never, View>(plainView, () => undefined);

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** In JSON each character takes six bytes. */
const worst = (count: number, from = 0): ProviderEvent[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `e-${from + index}`,
    kind: "\u0001".repeat(100),
    at: new Date(Date.UTC(2026, 0, 1) + (from + index) * 1_000).toISOString(),
    outcome: "\u0001".repeat(100),
    note: "\u0001".repeat(300),
  }));

test("a thousand callbacks of control characters, which would take more than 2 MB, are shown in 150 kB, with the number of the others", () => {
  const log = emptyLog();
  for (let sent = 0; sent < 1_000; sent += 100) log.applyEvents(worst(100, sent));
  expect(bytesOf(log.view.timeline)).toBeGreaterThan(2_000_000);
  const { timeline } = log;
  expect(bytesOf(timeline)).toBeLessThan(MAX_TIMELINE_BYTES + 1_000);
  const shown = timeline.filter(({ source }) => source === "callback");
  expect(shown.length).toBeGreaterThan(20);
  expect(timeline.at(-1)?.event).toMatch(`${1_000 - shown.length} more callbacks are not shown`);
  // The first ones, and the newest.
  expect(shown[0]?.at).toBe("2026-01-01T00:00:00.000Z");
  expect(shown.at(-1)?.at).toBe(worst(1, 999)[0]?.at);
});

test("callbacks that are not kept, and those that the process was not told of, count among the others", () => {
  const log = emptyLog();
  for (let sent = 0; sent < 1_200; sent += 100)
    log.applyEvents(
      worst(100, sent).map((event) => ({ ...event, kind: "Sent", note: "", outcome: "" })),
    );
  log.applySurplus(70);
  log.applySurplus(60);
  expect(log.timeline.at(-1)?.event).toMatch("270 more callbacks are not shown");
  expect(log.endHints).toBe(2);
});

test("callbacks leave the entries of the process itself alone, and these are bounded too", () => {
  const log = emptyLog();
  log.add({ source: "process", event: "Submitted" });
  log.applyEvents(worst(100));
  expect(log.timeline).toContainEqual(expect.objectContaining({ event: "Submitted" }));
  const long = { event: "x".repeat(90), by: "p".repeat(900), note: "n\n".repeat(9_000) };
  for (let count = 0; count < 100; count += 1) log.add({ source: "person", ...long });
  const { timeline } = log;
  expect(bytesOf(timeline)).toBeLessThan(2 * MAX_TIMELINE_BYTES + 1_000);
  const event = expect.stringMatching(/entries of the process are not shown$/);
  expect(timeline).toContainEqual(expect.objectContaining({ event }));
});

test("what fits is shown whole and in order", () => {
  const entries: TimelineEntry[] = Array.from({ length: 100 }, (_, index) => ({
    ...({ at: "2026-01-01T00:00:00.000Z", source: "process", event: String(index) } as const),
  }));
  expect(bounded(entries)).toEqual({ kept: entries, leftOut: 0 });
});

test("the newest entries for a memo take little room, and however long one is, it is there", () => {
  const long: TimelineEntry = {
    at: "2026-01-01T00:00:00.000Z",
    source: "person",
    event: '"'.repeat(500),
    by: '"'.repeat(500),
    note: '"'.repeat(2_000),
  };
  const kept = newest([{ ...long, event: "first" }, long]);
  expect(kept.at(-1)?.note).toMatch(/^"{50,}…$/);
  expect(bytesOf(kept)).toBeLessThan(900);
  const short: TimelineEntry[] = [1, 2, 3].map((day) => ({
    ...({ at: `2026-01-0${day}`, source: "process", event: String(day), note: "why" } as const),
  }));
  expect(newest(short)).toEqual(short);
});
