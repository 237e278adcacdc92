// What of a list goes to the provider beyond the rows as they came: lookup keys, a digest of the addresses, and parts.
import { expect, test } from "vitest";
import { listParts } from "../../../src/batch/recipients/pieces.js";
import type { CheckedReport } from "../../../src/batch/recipients/preflight.js";
import { all, checked, cut, parsed, skipping } from "./lists.js";

const list = [
  "address;legalname;lookupkey;*note",
  'ana@example.com;"García; Ana";order-1;"two\r\nlines"',
  "",
  "bad;Bad;order-2;",
  'bo@example.com;"Bo ""B""";;',
  "",
].join("\r\n");
const plain = "address;legalname\nana@example.com;Ana\nbo@example.com;Bo\n";

const keyed = { ...skipping, lookupKey: (line: number, given: string) => `${given}#${line}` };

test("a lookup key is made of the line and the given key, and all else stays", async () => {
  const { list: sent } = await checked([Buffer.from(list)], keyed);
  expect(parsed(sent)).toEqual([
    ["address", "legalname", "lookupkey", "*note"],
    ["ana@example.com", "García; Ana", "order-1#2", "two\r\nlines"],
    ["bo@example.com", 'Bo "B"', "#6", ""],
  ]);
});

test("a list without lookup keys gets a column of them", async () => {
  const { list: sent } = await checked([Buffer.from(plain)], keyed);
  expect(parsed(sent)).toEqual([
    ["address", "legalname", "lookupkey"],
    ["ana@example.com", "Ana", "#2"],
    ["bo@example.com", "Bo", "#3"],
  ]);
});

test("the digest is that of the recipients that are sent, in any order and case", async () => {
  const digestOf = async (text: string) =>
    ((await checked([Buffer.from(text)], keyed)).report as CheckedReport).addressDigest;
  const digest = await digestOf(plain);
  expect(await digestOf(list)).toBe(digest);
  expect(await digestOf("legalname;address\nBo;BO@example.com\nAna;ana@example.com\n")).toBe(
    digest,
  );
  expect(await digestOf("address;legalname\nana@example.com;Ana\n")).not.toBe(digest);
  expect(await digestOf(plain.replace("bo@", "jo@"))).not.toBe(digest);
  // A batch keeps it: another version of Trustflow finds the same one.
  expect(await digestOf(`${plain}G@example.com;Gil\n`)).toBe("3-04651cbb0cf7c120");
});

test.each([1, 2, 3, 100])(
  "parts of %i recipients have a header each, and no row twice",
  async (rows) => {
    const text = `${plain}"quoted@example.com";"a;b\r\nc"\n`;
    const [header, ...recipients] = parsed(text);
    const parts = (await all(listParts(cut(Buffer.from(text), [7, 40]), rows))).map((part) =>
      parsed(part.toString()),
    );
    expect(parts.map(([first]) => first)).toEqual(parts.map(() => header));
    expect(parts.flatMap(([, ...some]) => some)).toEqual(recipients);
    expect(parts).toHaveLength(Math.ceil(recipients.length / rows));
  },
);
