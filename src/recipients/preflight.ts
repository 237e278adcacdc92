// The check of a list of recipients before any call (P2 §2.9): what is wrong with which line and column, and the list as it may go
// to the provider. Nothing here repeats a value of the list.
import { csvLine } from "../contracts/shared/csv.js";
import { ListCheck } from "./list-check.js";
import type { PreflightOptions, PreflightReport } from "./list-check.js";
import type { Pieces } from "./list-reader.js";
import { inPieces } from "./pieces.js";
import type { ListProblem } from "./problems.js";

export type { PreflightOptions, PreflightReport } from "./list-check.js";

/** The list is refused: nothing of it may go to the provider. */
export class ListRefused extends Error {
  override readonly name = "ListRefused";
  readonly report: PreflightReport;

  constructor(report: PreflightReport) {
    super("the list of recipients is refused");
    this.report = report;
  }
}

/** Throws nothing but what `pieces` throws. */
export async function preflight(
  pieces: Pieces,
  options: PreflightOptions,
): Promise<PreflightReport> {
  const check = new ListCheck(options);
  for await (const _ of check.read(pieces));
  return check.report();
}

/**
 * The list for the provider: its header and its valid rows, without a byte-order mark and blank lines, each value as it was. Throws
 * ListRefused in place of its end, so that a store that takes it keeps nothing.
 */
export async function* checkedList(
  pieces: Pieces,
  options: PreflightOptions,
): AsyncGenerator<Buffer, PreflightReport> {
  const check = new ListCheck(options);
  for await (const rows of check.read(pieces)) {
    if (rows.length > 0) yield Buffer.from(rows.map(lineOf).join(""));
  }
  const report = check.report();
  if (!report.isAccepted) throw new ListRefused(report);
  return report;
}

/** Every problem of the list, as CSV for spreadsheets. Throws nothing but what `pieces` throws. */
export async function* problemsCsv(
  pieces: Pieces,
  options: PreflightOptions,
): AsyncGenerator<Buffer> {
  yield Buffer.from(csvLine(["line", "column", "kind", "problem"]));
  yield* inPieces(allProblems(pieces, options), ({ line, column, kind, problem }) =>
    csvLine([String(line ?? ""), column ?? "", kind, problem]),
  );
}

async function* allProblems(
  pieces: Pieces,
  options: PreflightOptions,
): AsyncGenerator<ListProblem> {
  const found: ListProblem[] = [];
  const check = new ListCheck(options, (problem) => found.push(problem));
  for await (const _ of check.read(pieces)) yield* found.splice(0);
  yield* found;
}

/** RFC 4180, but for the semicolons. */
function lineOf(fields: readonly string[]): string {
  return `${fields.map(fieldOf).join(";")}\r\n`;
}

function fieldOf(value: string): string {
  return /[";\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
