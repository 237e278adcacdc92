// What a process keeps of events, answers and documents: each event once, the newest answer, each version of each document
// (docs/reading-the-specification.md §2; P1 §1.4).
import { expect, vi, test } from "vitest";
import type { ProcessDocument } from "../../../src/contracts/shared/status.js";
import {
  MAX_TIMELINE_BYTES,
  EventLog,
  plainView,
} from "../../../src/workflows/runtime/event-log.js";
import type { Snapshot, View } from "../../../src/workflows/runtime/event-log.js";

function documentOf(sha256: string, more: Partial<ProcessDocument> = {}): ProcessDocument {
  const uri = `document:${more.uniqueId ?? more.description}-${sha256}`;
  const document = { uri, sha256, size: 1, mediaType: "application/pdf" };
  return { kind: "signed", document, ...more };
}

test.each<[string, ProcessDocument[], number]>([
  [
    "two documents with the same content and different names",
    [documentOf("a", { description: "one.pdf" }), documentOf("a", { description: "two.pdf" })],
    2,
  ],
  [
    "two affidavits with the same bytes and different ids",
    [documentOf("a", { uniqueId: "1" }), documentOf("a", { uniqueId: "2" })],
    2,
  ],
  [
    "an affidavit that is published again with other bytes",
    [documentOf("a", { uniqueId: "1" }), documentOf("b", { uniqueId: "1" })],
    2,
  ],
  [
    "the same affidavit, fetched again with another description",
    [
      documentOf("a", { uniqueId: "1", description: "first" }),
      documentOf("a", { uniqueId: "1", description: "second" }),
    ],
    1,
  ],
  [
    "the same document, fetched again",
    [documentOf("a", { description: "one.pdf" }), documentOf("a", { description: "one.pdf" })],
    1,
  ],
])("of %s as many are kept as there are", (_, documents, count) => {
  const log = new EventLog<never, View>(plainView, () => undefined);
  for (const document of documents) log.addDocuments([document]);
  expect(log.documents.size).toBe(count);
});

test("a document keeps the time of its first arrival, also where it is fetched again", () => {
  vi.useFakeTimers();
  try {
    const log = new EventLog<never, View>(plainView, () => undefined);
    const times = ["2026-11-23T10:00:00.000Z", "2026-11-24T10:00:00.000Z"];
    for (const [index, description] of ["first", "second"].entries()) {
      vi.setSystemTime(new Date(times[index]!));
      log.addDocuments([documentOf("a", { uniqueId: "1", description })]);
    }
    const kept = { description: "second", arrivedAt: times[0] };
    expect([...log.documents.values()]).toMatchObject([kept]);
  } finally {
    vi.useRealTimers();
  }
});

/** The view shows what it was made of. */
const emptyLog = () => {
  let changes = 0;
  const log = new EventLog<Snapshot, View>(
    (events, snapshot) => ({
      ...plainView(events),
      closed: snapshot?.state === "Closed",
      ...(snapshot && { state: snapshot.state }),
    }),
    () => {
      changes += 1;
    },
    ({ kind }) => kind === "Closed",
  );
  return { log, changes: () => changes };
};

const snapshotOf = (stamp: string, state: string) => ({ stamp, state, fingerprint: state });
const eventOf = (id: string, kind = "Sent") => ({ id, kind, at: "2026-01-01T00:00:00.000Z" });

test("an event counts once, however often it comes", () => {
  const { log } = emptyLog();
  log.applyEvents([eventOf("1"), eventOf("2")]);
  log.applyEvents([eventOf("2"), eventOf("1", "Closed")]);
  expect(log.events.map(({ id, kind }) => [id, kind])).toEqual([
    ["1", "Sent"],
    ["2", "Sent"],
  ]);
  expect([log.newsCount, log.view.timeline.length]).toEqual([2, 2]);
});

const badParts = [
  ...[{ note: 5 }, { state: {} }, { outcome: [] }, { evidenceId: true }],
  ...[{ affidavit: null }, { affidavit: {} }, { affidavit: { id: "a", name: 1 } }],
];

test.each([
  ...[null, undefined, "x", 7, [null], [{}], [{ id: 1, kind: "a", at: "b" }]],
  ...badParts.map((part) => [{ ...eventOf("1"), ...part }]),
])("a signal with %j throws nothing and changes nothing", (given) => {
  const { log } = emptyLog();
  log.applyEvents(given as never);
  expect([log.events, log.newsCount]).toEqual([[], 0]);
});

test("of several answers the one of the last query counts, whatever their order", () => {
  const { log } = emptyLog();
  log.applySnapshot(snapshotOf("2", "Delivered"), []);
  log.applySnapshot(snapshotOf("1", "Sent"), [documentOf("a", { uniqueId: "1" })]);
  expect([log.view.state, log.seenStates]).toEqual(["Delivered", ["Delivered"]]);
  // Its documents count all the same.
  expect([log.documents.size, log.newsCount]).toEqual([1, 2]);
});

test("an end counts although the database's clock has gone back, and is the last answer", () => {
  const { log } = emptyLog();
  for (const [stamp, state] of [
    ["3", "Sent"],
    ["1", "Closed"],
    ["2", "Sent"],
  ] as const)
    log.applySnapshot(snapshotOf(stamp, state), []);
  expect([log.view.state, log.seenStates]).toEqual(["Closed", ["Sent", "Closed"]]);
});

test("only an answer with another state is an entry of the timeline", () => {
  const { log, changes } = emptyLog();
  log.applySnapshot(snapshotOf("1", "Sent"), []);
  log.applySnapshot(snapshotOf("2", "Sent"), []);
  log.applySnapshot(snapshotOf("3", "Closed"), [], "excluded");
  expect(log.timeline.map(({ source, event, note }) => [source, event, note])).toEqual([
    ["query", "Sent", undefined],
    ["query", "Closed", "excluded"],
  ]);
  expect(log.seenStates).toEqual(["Sent", "Closed"]);
  expect(changes()).toBe(3);
});

test("an end that a callback beyond those kept reports makes the process ask", () => {
  const { log } = emptyLog();
  log.applyEvents(Array.from({ length: 1_000 }, (_, index) => eventOf(`e-${index}`)));
  log.applyEvents([eventOf("more")]);
  expect(log.endHints).toBe(0);
  log.applyEvents([eventOf("end", "Closed")]);
  expect([log.endHints, log.events.length]).toEqual([1, 1_000]);
});

test("what callbacks say about the communication is told, each as it came; what the newest query shows, too", () => {
  const { log } = emptyLog();
  expect(log.said).toEqual({});
  const about = { to: "ana@example.com", ipAddress: "192.0.2.1" };
  log.applyEvents([eventOf("1"), { ...eventOf("2", "Read"), about }]);
  log.applySnapshot({ ...snapshotOf("1", "Sent"), shown: { siteName: "Madrid" } }, []);
  log.applySnapshot({ ...snapshotOf("2", "Closed"), shown: { siteName: "Toledo" } }, []);
  expect(log.said).toEqual({
    reported: [{ at: eventOf("2").at, kind: "Read", ...about }],
    shown: { siteName: "Toledo" },
  });
});

test("a flood of callbacks makes it no larger than a timeline", () => {
  const { log } = emptyLog();
  const about = { userAgent: "x".repeat(400) };
  const ids = Array.from({ length: 1_000 }, (_, index) => `e-${index}`);
  log.applyEvents(ids.map((id) => ({ ...eventOf(id), about })));
  const { reported = [] } = log.said;
  expect(reported.length).toBeGreaterThan(100);
  expect(JSON.stringify(reported).length).toBeLessThan(MAX_TIMELINE_BYTES);
});
