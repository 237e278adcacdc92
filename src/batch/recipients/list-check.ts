// Checks the rows of a list of recipients one after the other (P2 §2.6, §2.9), and counts.
import {
  recipientAddressPattern,
  recipientAddressRule,
} from "../../contracts/shared/recipient-address.js";
import { damaged, damagedRule, readHeader, recipientIn } from "./columns.js";
import type { Columns } from "./columns.js";
import { brokenQuote, openList } from "./list-reader.js";
import type { Pieces, Row } from "./list-reader.js";
import { ProblemLog, UnreadableList } from "./problems.js";
import type { ListProblem, ProblemCount, ProblemKind } from "./problems.js";
import { SeenKeys } from "./seen-keys.js";

export interface PreflightOptions {
  /** `strict`: one problem refuses the list; `skip-invalid`: the rows that have one are left out. */
  onInvalid: "strict" | "skip-invalid";
  /** No two recipients may share it; default `address`. */
  unique?: "address" | "addressAndLookupKey";
  /** How many problems the report names; it counts all. */
  problemsShown?: number;
}

export interface PreflightReport {
  isAccepted: boolean;
  /** So many go to the provider; 0 where the list is refused. */
  recipients: number;
  /** Below the header, without blank lines. */
  rows: number;
  invalidRows: number;
  blankLines: number;
  /** False where the list cannot be read to its end; the counts end there too. */
  isComplete: boolean;
  columns: string[];
  /** Whether a recipient has an answer to a challenge, which is a secret. */
  hasSecrets: boolean;
  /** Whether the file may go to the provider as it came: no row left out, no byte-order mark, no blank line. */
  isAsGiven: boolean;
  /** The first ones. */
  problems: ListProblem[];
  counts: ProblemCount[];
}

const PROBLEMS_SHOWN = 100;
const MAX_ADDRESS_LENGTH = 254;

export class ListCheck {
  readonly #options: PreflightOptions;
  readonly #log: ProblemLog;
  readonly #seen = new SeenKeys();
  #columns: Columns | undefined;
  #hasByteOrderMark = false;
  #isComplete = false;
  #hasSecrets = false;
  #rows = 0;
  #invalidRows = 0;
  #blankLines = 0;

  constructor(options: PreflightOptions, onProblem?: (problem: ListProblem) => void) {
    this.#options = options;
    this.#log = new ProblemLog(options.problemsShown ?? PROBLEMS_SHOWN, onProblem);
  }

  /** The header and the valid rows, some at a time. It ends where the list cannot be read on; the report says so. */
  async *read(pieces: Pieces): AsyncGenerator<Row[]> {
    try {
      const { hasByteOrderMark, rows } = await openList(pieces);
      this.#hasByteOrderMark = hasByteOrderMark;
      for await (const some of rows) yield this.#taken(some);
      this.#isComplete = true;
      if (this.#rows === 0) this.#log.add({ kind: "file", problem: "must have a recipient" });
    } catch (error) {
      if (!(error instanceof UnreadableList)) throw error;
      for (const problem of error.problems) this.#log.add(problem);
    }
  }

  report(): PreflightReport {
    const valid = this.#rows - this.#invalidRows;
    const mayStay = this.#log.isEmpty || this.#options.onInvalid === "skip-invalid";
    const isAccepted = this.#isComplete && valid > 0 && mayStay;
    const isUntouched = this.#invalidRows + this.#blankLines === 0 && !this.#hasByteOrderMark;
    return {
      isAccepted,
      recipients: isAccepted ? valid : 0,
      rows: this.#rows,
      invalidRows: this.#invalidRows,
      blankLines: this.#blankLines,
      isComplete: this.#isComplete,
      columns: [...(this.#columns?.labels ?? [])],
      hasSecrets: this.#hasSecrets,
      isAsGiven: isAccepted && isUntouched,
      problems: this.#log.first,
      counts: this.#log.counts,
    };
  }

  /** The rows that may go to the provider: the header, and recipients without problems. */
  #taken(rows: Row[]): Row[] {
    return rows.filter((row) => {
      if (!isBlank(row))
        return this.#columns ? this.#takesRecipient(row, this.#columns) : this.#takesHeader(row);
      this.#blankLines += 1;
      return false;
    });
  }

  #takesHeader({ line, fields, hasStrayQuote }: Row): true {
    if (hasStrayQuote) throw brokenQuote(line);
    this.#columns = readHeader(fields, line);
    return true;
  }

  #takesRecipient(row: Row, columns: Columns): boolean {
    this.#rows += 1;
    if (this.#hasProblem(row, columns) || this.#isDuplicate(row, columns)) {
      this.#invalidRows += 1;
      return false;
    }
    this.#hasSecrets ||= columns.secrets.some((place) => row.fields[place] !== "");
    return true;
  }

  #hasProblem({ line, fields, hasStrayQuote }: Row, columns: Columns): boolean {
    if (hasStrayQuote) return this.#refuse({ line, kind: "strayQuote", problem: strayQuote });
    if (fields.length !== columns.labels.length) {
      const problem = `must have ${columns.labels.length} fields, as the header; it has ${fields.length}`;
      return this.#refuse({ line, kind: "fields", problem });
    }
    let isBad = false;
    for (const [place, value] of fields.entries()) {
      const found = problemOf(value, place, columns);
      if (found) isBad = this.#refuse({ line, column: columns.labels[place] ?? "", ...found });
    }
    return isBad;
  }

  /** Among the recipients without other problems: the first one of an address is not lost to an invalid row before it. */
  #isDuplicate({ line, fields }: Row, columns: Columns): boolean {
    const { unique = "address" } = this.#options;
    const key = keyOfRecipient(recipientIn(fields, columns), unique);
    const first = this.#seen.firstLine(key, line);
    if (first === undefined) return false;
    const { address, labels } = columns;
    const isByAddress = unique === "address";
    const problem = `must not be that of line ${first}${isByAddress ? "" : ", with the same lookupkey"}`;
    return this.#refuse({ line, column: labels[address] ?? "", kind: "duplicate", problem });
  }

  #refuse(problem: ListProblem): true {
    this.#log.add(problem);
    return true;
  }
}

/** The same for two recipients who are one: neither the case of an address counts, nor how Unicode composes its letters. */
export function keyOfRecipient(
  { address, lookupKey = "" }: { address: string; lookupKey?: string },
  unique: NonNullable<PreflightOptions["unique"]>,
): string {
  const to = address.toLowerCase().normalize();
  return unique === "address" ? to : `${to};${lookupKey}`;
}

function isBlank({ fields }: Row): boolean {
  return fields.length === 1 && fields[0] === "";
}

const strayQuote =
  "must have no quote in a field without quotes around it: add them, and double the quote";

function problemOf(
  value: string,
  place: number,
  { address, legalName }: Columns,
): { kind: ProblemKind; problem: string } | undefined {
  const isAddress = place === address;
  if ((isAddress || place === legalName) && value.trim() === "")
    return { kind: "missing", problem: "is required" };
  if (damaged.test(value)) return { kind: "characters", problem: damagedRule };
  if (isAddress && !(value.length <= MAX_ADDRESS_LENGTH && recipientAddressPattern.test(value)))
    return { kind: "address", problem: recipientAddressRule };
  return undefined;
}
