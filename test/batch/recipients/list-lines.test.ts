// The lines of a list after its check: of its recipients, and of the rows that were left out.
import { expect, test } from "vitest";
import { LineIndex, LineSet, listedRows } from "../../../src/batch/recipients/list-lines.js";

const text = `address;legalname;lookupkey
ana@example.com;Ana;one

"bo@example.com";"Bo
and sons";two
nobody;;
ANA@example.com;Ana;three
Dora
eva@example.com;Eva;four
fay@example.com;Fay;
`;

async function rowsOf(unique: "address" | "addressAndLookupKey") {
  const rows = [];
  for await (const row of listedRows([Buffer.from(text)], unique)) rows.push(row);
  return rows;
}

test("each row has its line, and what was left out has its problem without a value", async () => {
  expect(await rowsOf("address")).toEqual([
    { line: 2, address: "ana@example.com", lookupKey: "one" },
    { line: 4, address: "bo@example.com", lookupKey: "two" },
    { line: 6, problem: expect.stringMatching(/^address must be .*; legalname is required$/) },
    { line: 7, problem: "address must not be that of line 2" },
    { line: 8, problem: expect.stringMatching(/^must have 3 fields/) },
    { line: 9, address: "eva@example.com", lookupKey: "four" },
    { line: 10, address: "fay@example.com" },
  ]);
});

test("a recipient is found by what no two share", async () => {
  const of = (unique: "address" | "addressAndLookupKey") =>
    LineIndex.of(listedRows([Buffer.from(text)], unique), unique);
  const byAddress = await of("address");
  expect(byAddress.lineOf({ address: "Ana@example.com", lookupKey: "other" })).toBe(2);
  expect(byAddress.lineOf({ address: "nobody@example.com" })).toBeUndefined();
  const byBoth = await of("addressAndLookupKey");
  expect(byBoth.lineOf({ address: "ana@example.com", lookupKey: "three" })).toBe(7);
  expect(byBoth.lineOf({ address: "ana@example.com" })).toBeUndefined();
  expect(byBoth.lineOf({ address: "fay@example.com", lookupKey: "" })).toBe(10);
});

test("a recipient is found however its address is spelled, as the check of the list finds it twice", async () => {
  const rows = ["jos\u00e9@example.com", "jose\u0301@Example.com", "Ana@Example.COM"];
  const list = `address;legalname\n${rows.map((address) => `${address};X\n`).join("")}`;
  const index = await LineIndex.of(listedRows([Buffer.from(list)], "address"), "address");
  const lines = rows.map((address) => index.lineOf({ address }));
  expect(lines).toEqual([2, 2, 4]);
  expect(index.lineOf({ address: "JOSE\u0301@example.com" })).toBe(2);
  expect(index.lineOf({ address: "ana@example.com" })).toBe(4);
});

test("a set of lines has those that were added", () => {
  const set = new LineSet();
  const added = [1, 7, 8, 8_191, 8_192, 1_000_000];
  for (const line of added) set.add(line);
  expect(added.every((line) => set.has(line))).toBe(true);
  expect([2, 9, 8_193, 999_999, 9_000_000].some((line) => set.has(line))).toBe(false);
});
