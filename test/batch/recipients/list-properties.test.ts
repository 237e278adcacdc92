// Properties of the check of a list: whatever the quoting, the pieces and the place of a problem.
import { expect, test } from "vitest";
import fc from "fast-check";
import { SeenKeys } from "../../../src/batch/recipients/seen-keys.js";
import { preflight } from "../../../src/batch/recipients/preflight.js";
import { check, checked, cut, parsed, skipping } from "./lists.js";

const lineEnd = fc.constantFrom("\n", "\r\n");
/** A field as it may stand in a file, with what it means. */
const quoted = fc
  .array(fc.constantFrom("a", "é", "山", "😀", ";", '"', "\n", "\r\n", " ", "'", "="), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));
const spelled = quoted.chain((value) =>
  fc
    .boolean()
    .map((isQuoted) =>
      isQuoted || /[;"\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
    )
    .map((text) => ({ value, text })),
);
const row = fc.record({ name: spelled, city: spelled, end: lineEnd });
const places = fc.array(fc.nat(), { maxLength: 8 });

test("each value goes on as it was, whatever its quotes and lines, and whatever the pieces", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), places, async (rows, at) => {
      const lines = rows.map(
        ({ name, city, end }, index) =>
          `r${index}@example.com;"A${name.value.replaceAll('"', '""')}";${city.text}${end}`,
      );
      const bytes = Buffer.from(`address;legalname;*city\n${lines.join("")}`);
      const { list, report } = await checked(cut(bytes, at), { onInvalid: "strict" });
      expect(report).toMatchObject({ isAsGiven: true, recipients: rows.length });
      expect(parsed(list).slice(1)).toEqual(
        rows.map(({ name, city }, index) => [
          `r${index}@example.com`,
          `A${name.value}`,
          city.value,
        ]),
      );
    }),
  );
});

test("each problem has the line on which its row begins, whatever stands before it", async () => {
  const kind = fc.constantFrom("good", "address", "fields", "strayQuote", "blank");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(kind, row), { minLength: 1, maxLength: 12 }),
      places,
      async (rows, at) => {
        let text = "address;legalname;*city\r\n";
        const expected: [number, string][] = [];
        for (const [index, [is, { city, end }]] of rows.entries()) {
          const line = text.split("\n").length;
          if (is !== "good" && is !== "blank") expected.push([line, is]);
          const address = is === "address" ? "nobody" : `r${index}@example.com`;
          const name = is === "strayQuote" ? 'A "B"' : "A";
          const more = is === "fields" ? ";C" : "";
          text += is === "blank" ? end : `${address};${name};${city.text}${more}${end}`;
        }
        const report = await preflight(cut(Buffer.from(text), at), skipping);
        expect(
          report.problems.flatMap(({ line, kind: found }) =>
            line === undefined ? [] : [[line, found]],
          ),
        ).toEqual(expected);
        expect(report.blankLines).toBe(rows.filter(([is]) => is === "blank").length);
      },
    ),
  );
});

test("the pieces of a file change nothing, whatever its bytes", async () => {
  const words = ["a@b.example", "A", ";", '"', "\n", "\r\n", "é", "\ufeff", "\0", "\ufffd"];
  const word = fc.constantFrom(...words).map((text) => Buffer.from(text));
  const byte = fc.constantFrom(0xc3, 0xa9, 0xff, 0x0d).map((code) => Buffer.from([code]));
  const start = fc.constantFrom("address;legalname\n", "address;legalname\na@b.example;A\n", "");
  const file = fc
    .tuple(start, fc.array(fc.oneof({ weight: 9, arbitrary: word }, byte), { maxLength: 40 }))
    .map(([text, more]) => Buffer.concat([Buffer.from(text), ...more]));
  await fc.assert(
    fc.asyncProperty(file, places, async (bytes, at) => {
      expect(await preflight(cut(bytes, at), skipping)).toEqual(await check(bytes, skipping));
    }),
    { numRuns: 100 },
  );
});

test("a key is known by the line on which it came first, among a hundred thousand", () => {
  const seen = new SeenKeys();
  for (let line = 1; line <= 100_000; line += 1) {
    if (seen.firstLine(`r${line}@example.com`, line) !== undefined) throw new Error(`line ${line}`);
  }
  for (const line of [1, 768, 769, 65_536, 100_000])
    expect(seen.firstLine(`r${line}@example.com`, 200_000)).toBe(line);
});
