import { expect, test } from "vitest";
import { pdf } from "../src/exchange/pdf.js";

const lines = ["Affidavit (one)", "back\\slash, Añil"];
/** It looks like parts of a PDF, and has bytes that are no text. */
const bytes = Buffer.concat([
  Buffer.from([0, 255, 10, 13]),
  pdf(["inner"]),
  Buffer.from("/ByteRange [] /Contents <"),
]);

test.each([
  ["texts", pdf(lines), 7],
  ["an attached file", pdf(["outer"], { name: "inner (1).pdf", bytes }), 9],
])(
  "a PDF of %s: its table points at its objects, and its byte range leaves out the signature alone",
  (_, file, objects) => {
    const text = file.toString("latin1");
    const xref = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
    expect(text.slice(xref, xref + 4)).toBe("xref");
    const table = text.slice(xref).matchAll(/^(\d{10}) 00000 n $/gm);
    const offsets = [...table].map(([, at]) => Number(at));
    expect(offsets).toHaveLength(objects);
    for (const [index, offset] of offsets.entries())
      expect(text.slice(offset).startsWith(`${index + 1} 0 obj\n`)).toBe(true);
    const range = /\/ByteRange \[(\d+) (\d+) (\d+) (\d+)\]/.exec(text)!.slice(1).map(Number);
    const [start, before, after, rest] = range as [number, number, number, number];
    expect(start).toBe(0);
    expect(text.slice(before, after)).toMatch(/^<0+>$/);
    expect(after + rest).toBe(text.length);
  },
);

test("an attached file stands in the PDF byte for byte", () => {
  expect(pdf(["outer"], { name: "inner (1).pdf", bytes }).includes(bytes)).toBe(true);
});
