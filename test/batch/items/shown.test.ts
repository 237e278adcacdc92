// How a notice of a batch is named in totals, reports and commands.
import { expect, test } from "vitest";
import { knownOf, wordOf } from "../../../src/batch/items/shown.js";

const at = new Date("2026-03-02T09:15:27Z");
const shownAt = at.toISOString();

test.each<[word: string | undefined, item: Parameters<typeof knownOf>[0], row: object]>([
  [
    "read",
    { state: "Closed", outcome: "Read", at, source: "query" },
    { state: "Closed", outcome: "read", at: shownAt, source: "query" },
  ],
  [
    "delivered",
    { state: "Delivered", outcome: "Read", at, source: "callback" },
    { state: "Delivered", outcome: "read", at: shownAt, source: "callback" },
  ],
  [undefined, { source: "recipients" }, { source: "recipients" }],
])("%s: its state, or when closed its outcome, in camelCase", (word, item, row) => {
  expect(wordOf(item)).toBe(word);
  expect(knownOf(item)).toStrictEqual(row);
});
