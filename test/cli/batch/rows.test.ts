// What `recipients` and `report` show of a batch that runs: its notices, and its list.
import { expect, test } from "vitest";
import type { BatchItem, BatchItems } from "../../../src/batch/items/items.js";
import { noticeRow, noticesByLine, noticesOf, recipientRows } from "../../../src/cli/batch/rows.js";

const at = new Date("2026-03-02T09:15:27Z");
const notices: BatchItem[] = [
  { evidenceId: "a", line: 4, state: "Closed", outcome: "refused", at, source: "callback" },
  { evidenceId: "b", line: 2, state: "Closed", outcome: "read", at, source: "query" },
  { evidenceId: "c", line: 5, state: "Delivered", at, source: "callback" },
  { evidenceId: "d", source: "recipients" },
];

/** As the database gives them: in the order of their ids, a page at a time. */
function knownOf(all: BatchItem[]) {
  const page = (
    _key: unknown,
    { after = "", limit, isOpen = false }: { after?: string; limit: number; isOpen?: boolean },
  ) => {
    const found = all.filter(
      ({ evidenceId, state }) => evidenceId > after && !(isOpen && state === "Closed"),
    );
    return Promise.resolve(found.slice(0, limit));
  };
  const key = { namespace: "default", workflowId: "sendNoticeBatch/x" };
  return { key, recipients: all.length, items: { page } as unknown as BatchItems };
}

const list = [
  "address;legalname;lookupkey",
  "ada@example.com;Ada;key-1",
  "not an address;Bob;key-2",
  "grace@example.com;Grace;",
  '"edsger@example.com";"Edsger; D.";key-4',
  "alan@example.com;Alan;key-5",
].join("\n");

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test("more notices than one page has come all, each once", async () => {
  const many = Array.from({ length: 2_500 }, (_, index): BatchItem => {
    return { evidenceId: String(index).padStart(6, "0"), source: "recipients" };
  });
  expect(await all(noticesOf(knownOf(many)))).toEqual(many);
});

test.each([
  [{ state: "refused" }, ["a"]],
  [{ state: "delivered" }, ["c"]],
  [{ state: "Closed" }, ["a", "b"]],
  [{ outcome: "read" }, ["b"]],
  [{ open: true }, ["c", "d"]],
  [{}, ["a", "b", "c", "d"]],
])("filter %j", async (filter, ids) => {
  const found = await all(noticesOf(knownOf(notices), filter));
  expect(found.map(({ evidenceId }) => evidenceId)).toEqual(ids);
});

test("each row of the list has its notice by its line, or why it has none; a notice without a line is no recipient", async () => {
  const found = await noticesByLine(noticesOf(knownOf(notices)));
  expect(found.withoutLine).toEqual([notices[3]]);
  const rows = await all(recipientRows({ pieces: [Buffer.from(list)], unique: "address" }, found));
  expect(rows).toEqual([
    { address: "ada@example.com", lookupKey: "key-1", ...noticeRow(notices[1]!) },
    { line: 3, address: "", reason: expect.stringMatching(/^address must be/), source: "list" },
    {
      address: "grace@example.com",
      ...noticeRow(notices[0]!),
      reason: "the recipient refused the notice without opening it",
    },
    { address: "edsger@example.com", lookupKey: "key-4", ...noticeRow(notices[2]!) },
    {
      line: 6,
      address: "alan@example.com",
      lookupKey: "key-5",
      reason: "no notice of the recipient is known yet",
      source: "list",
    },
  ]);
});
