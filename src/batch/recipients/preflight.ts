// Checks a list of recipients before any call (P2 §2.9): says what is wrong with which line and column, and writes the list as it may go to
// the provider. Nothing here repeats a value of the list.
import { csvLine } from "../../contracts/shared/text.js";
import { ListCheck } from "./list-check.js";
import type { PreflightOptions, PreflightReport } from "./list-check.js";
import type { Pieces, Row } from "./list-reader.js";
import { inPieces, listLine } from "./pieces.js";
import type { ListProblem } from "./problems.js";
import { hash } from "node:crypto";

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

export interface CheckedOptions extends PreflightOptions {
  /** The lookup key in place of the one given, which may be empty. */
  lookupKey?: (line: number, given: string) => string;
}

export interface CheckedReport extends PreflightReport {
  /** Covers the recipients that go to the provider. */
  addressDigest: string;
}

/**
 * The list for the provider: its header and its valid rows, without a byte-order mark and blank lines, each value as it was, but for
 * the lookup keys that `options` replaces. Throws ListRefused in place of its end, so that a store that takes it keeps nothing.
 */
export async function* checkedList(
  pieces: Pieces,
  { lookupKey, ...options }: CheckedOptions,
): AsyncGenerator<Buffer, CheckedReport> {
  const check = new ListCheck(options);
  const writer = new ListWriter(lookupKey);
  for await (const rows of check.read(pieces)) {
    if (rows.length > 0) yield Buffer.from(rows.map((row) => writer.lineOf(row)).join(""));
  }
  const report = check.report();
  if (!report.isAccepted) throw new ListRefused(report);
  return { ...report, addressDigest: writer.addresses.value };
}

/** Writes the header and then the recipients. */
class ListWriter {
  readonly addresses = new AddressDigest();
  readonly #keyOf: CheckedOptions["lookupKey"];
  /** A list may have no column of lookup keys. */
  #columns: { address: number; lookupKey: number } | undefined;

  constructor(keyOf: CheckedOptions["lookupKey"]) {
    this.#keyOf = keyOf;
  }

  lineOf({ line, fields }: Row): string {
    if (!this.#columns) return listLine(this.#header(fields));
    const { address, lookupKey } = this.#columns;
    this.addresses.add(fields[address] ?? "");
    if (!this.#keyOf) return listLine(fields);
    const keyed = [...fields];
    keyed[lookupKey] = this.#keyOf(line, fields[lookupKey] ?? "");
    return listLine(keyed);
  }

  #header(names: string[]): string[] {
    const isNew = this.#keyOf !== undefined && !names.includes("lookupkey");
    const header = isNew ? [...names, "lookupkey"] : names;
    this.#columns = { address: header.indexOf("address"), lookupKey: header.indexOf("lookupkey") };
    return header;
  }
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

/** Tells whether two lists have the same recipients, in whatever order: the sum of 64 bits of a digest of each address, and their number. */
export class AddressDigest {
  count = 0;
  #sum = 0n;

  /** The case of an address says nothing (P2 §2.6). */
  add(address: string): void {
    this.count += 1;
    const digest = hash("sha256", address.toLowerCase(), "buffer");
    this.#sum = BigInt.asUintN(64, this.#sum + digest.readBigUInt64LE(0));
  }

  get value(): string {
    return `${this.count}-${this.#sum.toString(16).padStart(16, "0")}`;
  }
}
