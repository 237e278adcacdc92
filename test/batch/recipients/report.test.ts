// The report of a batch: complete and the same in both forms, safe in a spreadsheet, and written as a stream.
import { expect, test } from "vitest";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { plainText } from "../../../src/contracts/shared/text.js";
import {
  csvReport,
  jsonLinesReport,
  ReportCounter,
  reportRows,
} from "../../../src/batch/recipients/report.js";
import type { ReportRow } from "../../../src/batch/recipients/report.js";
import { outsideText } from "../../harness/stack/outside-text.js";
import { all, cut } from "./lists.js";

const full: ReportRow = {
  line: 2,
  address: "ada@example.com",
  lookupKey: "invoice-7",
  evidenceUniqueId: "0c9f1a52-6f0b-4d0e-9c3a-2f1b7a8e4d10",
  state: "Closed",
  outcome: "refused",
  reason: 'She said "no"; twice,\nat least',
  at: "2026-03-02T09:15:27Z",
  source: "query",
};
const least: ReportRow = { address: "+34600000000", source: "recipients" };

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const anyRow = fc
  .record({
    line: optional(fc.integer({ min: 1 })),
    address: outsideText,
    lookupKey: optional(outsideText),
    evidenceUniqueId: optional(fc.uuid()),
    state: optional(outsideText),
    outcome: optional(outsideText),
    reason: optional(outsideText),
    source: fc.constantFrom("callback", "query", "recipients", "list"),
  })
  .map((row) => JSON.parse(JSON.stringify(row)) as ReportRow);

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await all(pieces)).toString();
}

test("both forms say the same of each recipient", async () => {
  const csv = await textOf(csvReport([full, least]));
  expect(parse(csv, { columns: true })).toEqual([
    { ...full, line: "2", reason: 'She said "no"; twice, at least' },
    {
      line: "",
      address: "'+34600000000",
      lookupKey: "",
      evidenceUniqueId: "",
      state: "",
      outcome: "",
      reason: "",
      at: "",
      source: "recipients",
    },
  ]);
  const jsonLines = await textOf(jsonLinesReport([full, least]));
  expect(jsonLines.split("\n").map((line) => (line === "" ? line : JSON.parse(line)))).toEqual([
    full,
    least,
    "",
  ]);
});

test("a report without recipients is a header, and nothing", async () => {
  expect(parse(await textOf(csvReport([])))).toHaveLength(1);
  expect(await all(jsonLinesReport([]))).toEqual([]);
});

test("no cell is read as a formula, with commas and with semicolons, and each text is kept", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { maxLength: 4 }), async (rows) => {
      const csv = await textOf(csvReport(rows));
      const read: Record<string, string>[] = parse(csv, { columns: true });
      expect(read).toHaveLength(rows.length);
      for (const [index, row] of rows.entries()) {
        for (const [member, cell] of Object.entries(read[index] ?? {})) {
          expect(cell).not.toMatch(/^\s*[=+\-@]/);
          const given = String(row[member as keyof ReportRow] ?? "");
          expect(cell.replaceAll("'", "")).toBe(plainText(given).replaceAll("'", ""));
        }
      }
      for (const part of csv.split(/\r\n|;/)) expect(part).not.toMatch(/^["\s]*[=+\-@]/);
    }),
  );
});

test("rows that are read again are the same, whatever the pieces", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { maxLength: 5 }), fc.array(fc.nat()), async (rows, at) => {
      const bytes = Buffer.from(await textOf(jsonLinesReport(rows)));
      expect(await all(reportRows(cut(bytes, at)))).toEqual(rows);
    }),
  );
});

test("a report that is cut is no report", async () => {
  const bytes = Buffer.from(await textOf(jsonLinesReport([full, least]))).subarray(0, -1);
  await expect(all(reportRows([bytes]))).rejects.toThrow("whole line");
});

test.each([
  ["CSV", csvReport],
  ["JSON Lines", jsonLinesReport],
])("as %s it is written while the rows come, a piece at a time", async (_, write) => {
  let taken = 0;
  function* rows(): Generator<ReportRow> {
    for (let line = 2; line < 100_002; line += 1) {
      taken += 1;
      yield { ...full, line };
    }
  }
  let pieces = 0;
  let largest = 0;
  for await (const piece of write(rows())) {
    if (piece.length < 1_000) continue;
    expect(piece.toString()).toMatch(/^(\{"line":|")?\d/);
    pieces += 1;
    largest = Math.max(largest, piece.length);
    if (pieces === 2) expect(taken).toBeLessThan(2_000);
    if (pieces === 20) break;
  }
  expect(pieces).toBe(20);
  expect(largest).toBeLessThan(70_000);
  expect(taken).toBeLessThan(20_000);
});

test("the rows that pass are counted, and words that are too many count as other", async () => {
  const counter = new ReportCounter();
  const many = Array.from({ length: 50 }, (_, index) => ({ ...least, state: `State${index}` }));
  const passed = await all(counter.of([full, full, ...many]));
  expect(passed).toEqual([full, full, ...many]);
  const { counts } = counter;
  expect(counts).toMatchObject({
    recipients: 52,
    withoutNotice: 50,
    sources: { query: 2, recipients: 50 },
  });
  expect(counts.outcomes).toEqual({ refused: 2 });
  expect(counts.states).toMatchObject({ Closed: 2, State0: 1, State38: 1, other: 11 });
});
