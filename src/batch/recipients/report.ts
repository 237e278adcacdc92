// Writes the report of a batch: for each recipient its state, and where that is from. JSON Lines are for programs; the CSV for spreadsheets
// is made from them. Both are streams, however many recipients there are.
import { StringDecoder } from "node:string_decoder";
import { csvLine } from "../../contracts/shared/text.js";
import type { Pieces } from "./list-reader.js";
import { inPieces } from "./pieces.js";

export interface ReportRow {
  /** In the caller's list, from 1; absent where the provider names a recipient that the list does not have. */
  line?: number;
  address: string;
  lookupKey?: string;
  /** P2 §2.9: of the notice that was made for the recipient. */
  evidenceUniqueId?: string;
  /** P2 §3.2, as the provider spells it. */
  state?: string;
  /** P2 §3.2 in camelCase. */
  outcome?: string;
  /** Why it was left out, has no notice or was not reached, in our words (docs/reading-the-specification.md §4). */
  reason?: string;
  /** When what is said here happened. */
  at?: string;
  /** Where it is from: a callback or a query for the notice, the batch's own recipients, or the list alone. */
  source: ReportSource;
}

export type ReportSource = "callback" | "query" | "recipients" | "list";

/** Each of them is a column of the CSV. */
export const reportColumns = [
  "line",
  "address",
  "lookupKey",
  "evidenceUniqueId",
  "state",
  "outcome",
  "reason",
  "at",
  "source",
] as const satisfies (keyof ReportRow)[];

export type Rows = AsyncIterable<ReportRow> | Iterable<ReportRow>;

/** One object a line. */
export function jsonLinesReport(rows: Rows): AsyncGenerator<Buffer> {
  return inPieces(rows, (row) => `${JSON.stringify(row, [...reportColumns])}\n`);
}

/** With a header; quoted, and no cell is read as a formula. */
export async function* csvReport(rows: Rows): AsyncGenerator<Buffer> {
  yield Buffer.from(csvLine(reportColumns));
  yield* inPieces(rows, (row) => csvLine(reportColumns.map((member) => String(row[member] ?? ""))));
}

/** Reads the JSON Lines that `jsonLinesReport` wrote. */
export async function* reportRows(report: Pieces): AsyncGenerator<ReportRow> {
  const decoder = new StringDecoder("utf8");
  let begun = "";
  for await (const piece of report) {
    const lines = (begun + decoder.write(Buffer.from(piece))).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as ReportRow;
  }
  if (begun !== "") throw new TypeError("the report does not end with a whole line");
}

/** How many rows have which state, outcome and source. */
export interface ReportCounts {
  recipients: number;
  withoutNotice: number;
  states: Record<string, number>;
  outcomes: Record<string, number>;
  sources: Record<string, number>;
}

/** Counts the rows that pass. */
export class ReportCounter {
  readonly #states = new WordCount();
  readonly #outcomes = new WordCount();
  readonly #sources = new WordCount();
  #recipients = 0;
  #withoutNotice = 0;

  async *of(rows: Rows): AsyncGenerator<ReportRow> {
    for await (const row of rows) {
      this.#recipients += 1;
      if (row.evidenceUniqueId === undefined) this.#withoutNotice += 1;
      this.#states.add(row.state);
      this.#outcomes.add(row.outcome);
      this.#sources.add(row.source);
      yield row;
    }
  }

  get counts(): ReportCounts {
    return {
      recipients: this.#recipients,
      withoutNotice: this.#withoutNotice,
      states: this.#states.all,
      outcomes: this.#outcomes.all,
      sources: this.#sources.all,
    };
  }
}

/** A provider's words are few; more than that count together as `other`. */
const MAX_WORDS = 40;

class WordCount {
  readonly #counts = new Map<string, number>();

  add(word: string | undefined): void {
    if (word === undefined) return;
    const isCounted = this.#counts.has(word) || this.#counts.size < MAX_WORDS;
    const name = isCounted ? word : "other";
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  get all(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
