import { expect, test } from "vitest";
import { pdf } from "../src/exchange/pdf.js";

test("the PDF's cross-reference table points at its objects, and its byte range leaves out the signature alone", () => {
  const file = pdf(["Affidavit (one)", "back\\slash, Añil"]).toString("latin1");
  const xref = Number(/startxref\n(\d+)/.exec(file)?.[1]);
  expect(file.slice(xref, xref + 4)).toBe("xref");
  const offsets = [...file.slice(xref).matchAll(/^(\d{10}) 00000 n $/gm)].map((match) =>
    Number(match[1]),
  );
  expect(offsets).toHaveLength(7);
  for (const [index, offset] of offsets.entries()) {
    expect(file.slice(offset).startsWith(`${index + 1} 0 obj\n`)).toBe(true);
  }
  const range = /\/ByteRange \[(\d+) (\d+) (\d+) (\d+)\]/.exec(file)!.slice(1).map(Number);
  const [start, before, after, rest] = range as [number, number, number, number];
  expect(start).toBe(0);
  expect(file.slice(before, after)).toMatch(/^<0+>$/);
  expect(after + rest).toBe(file.length);
});

test("an attached file stands in the PDF byte for byte, whatever it holds, and the table and the byte range stay right", () => {
  const bytes = Buffer.concat([
    Buffer.from([0, 255, 10, 13]),
    pdf(["inner"]),
    Buffer.from("/ByteRange [] /Contents <"),
  ]);
  const file = pdf(["outer"], { name: "inner (1).pdf", bytes });
  expect(file.includes(bytes)).toBe(true);
  const text = file.toString("latin1");
  const xref = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
  const offsets = [...text.slice(xref).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, at]) =>
    Number(at),
  );
  expect(offsets).toHaveLength(9);
  for (const [index, offset] of offsets.entries())
    expect(text.slice(offset).startsWith(`${index + 1} 0 obj\n`)).toBe(true);
  const [, before, after] = /\/ByteRange \[0 (\d+) (\d+)/.exec(text)!.map(Number);
  expect(text.slice(before, after)).toMatch(/^<0+>$/);
});
