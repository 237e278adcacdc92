// The check of a list of recipients: rows a second of one core, from CPU time, beside csv-parse alone on the same list. Lists of four
// and of eight columns; half of the eight are quoted.
import { parse } from "csv-parse";
import { Readable } from "node:stream";
import { checkedList, preflight } from "../../src/batch/recipients/preflight.js";
import { alone, atLeast } from "../measure.js";
import type { Measure } from "../measure.js";

const PIECE_BYTES = 65_536;
const GOAL = atLeast(100_000, "value");

type Reading = (pieces: Buffer[]) => Promise<number>;

const lists: Record<string, (row: number) => string> = {
  "address;legalname;lookupkey;*contract": (row) =>
    `recipient.${row}@example.com;García López, María ${row};invoice-2026-${row};C-${row}`,
  "address;legalname;lookupkey;displayname;custodychallenge;custodychallengeresponse;*city;*contract":
    (row) =>
      `recipient.${row}@example.com;"García López, María ${row}";invoice-2026-${row};"María ""Mari"" ${row}";What is your number?;"answer-${row}";Alcalá de Henares;"C-${row}"`,
};

const readings: Record<string, Reading> = {
  "csv-parse": async (pieces) => {
    let rows = -1;
    const parser = Readable.from(pieces).pipe(parse({ delimiter: ";" }));
    for await (const _ of parser) rows += 1;
    return rows;
  },
  preflight: async (pieces) => (await preflight(pieces, { onInvalid: "strict" })).recipients,
  checkedList: async (pieces) => {
    const reading = checkedList(pieces, { onInvalid: "skip-invalid" });
    for (;;) {
      const { done, value } = await reading.next();
      if (done) return value.recipients;
    }
  },
};

export async function measurePreflight({ quick }: { quick: boolean }): Promise<Measure[]> {
  const [rows, rounds] = quick ? [50_000, 2] : [200_000, 5];
  const measures: Measure[] = [];
  for (const [header, rowOf] of Object.entries(lists)) {
    const pieces = piecesOf(header, rowOf, rows);
    const rates: Record<string, number[]> = {};
    // The readings take turns, so that a busy machine disturbs all of them.
    for (let round = -1; round < rounds; round += 1) {
      for (const [name, read] of Object.entries(readings)) {
        const rate = await rateOf(read, pieces, rows);
        if (round >= 0) (rates[name] ??= []).push(rate);
      }
    }
    for (const [name, values] of Object.entries(rates)) {
      const about = {
        name: `${name}-${header.split(";").length}`,
        unit: "rows a second of one core",
      };
      measures.push(alone({ ...about, ...(name !== "csv-parse" && { goal: GOAL }) }, values));
    }
  }
  return measures;
}

function piecesOf(header: string, rowOf: (row: number) => string, rows: number): Buffer[] {
  const lines = [header, ...Array.from({ length: rows }, (_, row) => rowOf(row))];
  const bytes = Buffer.from(`${lines.join("\r\n")}\r\n`);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    pieces.push(bytes.subarray(at, at + PIECE_BYTES));
  return pieces;
}

async function rateOf(read: Reading, pieces: Buffer[], rows: number): Promise<number> {
  const before = process.cpuUsage();
  const found = await read(pieces);
  const { user, system } = process.cpuUsage(before);
  if (found !== rows) throw new Error(`${found} recipients of ${rows}`);
  return (rows * 1e6) / (user + system);
}
