// The caller's list once more, after its check: the line of each recipient, and why a row was left out.
import { readHeader, recipientIn } from "./columns.js";
import type { Columns } from "./columns.js";
import { keyOfRecipient, ListCheck } from "./list-check.js";
import type { PreflightOptions } from "./list-check.js";
import type { Pieces } from "./list-reader.js";
import type { ListProblem } from "./problems.js";
import { SeenKeys } from "./seen-keys.js";

type Unique = NonNullable<PreflightOptions["unique"]>;

export interface ListedRow {
  line: number;
  /** Absent where the row was left out. */
  address?: string;
  lookupKey?: string;
  /** Why it was left out; never a value of the list. */
  problem?: string;
}

/** The rows of a list that was accepted, in their order. */
export async function* listedRows(pieces: Pieces, unique: Unique): AsyncGenerator<ListedRow> {
  const found: ListProblem[] = [];
  const options = { onInvalid: "skip-invalid", unique, problemsShown: 0 } as const;
  const check = new ListCheck(options, (problem) => found.push(problem));
  let columns: Columns | undefined;
  for await (const rows of check.read(pieces)) {
    const header = columns ? undefined : rows.shift();
    if (header) columns = readHeader(header.fields, header.line);
    if (!columns) continue;
    const known = columns;
    const taken = rows.map(({ line, fields }) => ({ line, ...recipientIn(fields, known) }));
    const leftOut = leftOutOf(found.splice(0));
    yield* leftOut.length === 0
      ? taken
      : [...taken, ...leftOut].toSorted((a, b) => a.line - b.line);
  }
}

/** A row with several problems is one. */
function leftOutOf(problems: ListProblem[]): ListedRow[] {
  const byLine = new Map<number, string[]>();
  for (const { line, column, problem } of problems) {
    if (line === undefined) continue;
    const words = column === undefined ? problem : `${column} ${problem}`;
    byLine.set(line, [...(byLine.get(line) ?? []), words]);
  }
  return [...byLine].map(([line, words]) => ({ line, problem: words.join("; ") }));
}

/** From a recipient to its line. It takes 25 MB for a million recipients. */
export class LineIndex {
  readonly #lines = new SeenKeys();
  readonly #unique: Unique;

  constructor(unique: Unique) {
    this.#unique = unique;
  }

  static async of(rows: AsyncIterable<ListedRow>, unique: Unique): Promise<LineIndex> {
    const index = new LineIndex(unique);
    for await (const { line, address, ...row } of rows)
      if (address !== undefined)
        index.#lines.firstLine(keyOfRecipient({ address, ...row }, unique), line);
    return index;
  }

  lineOf(recipient: { address: string; lookupKey?: string }): number | undefined {
    return this.#lines.lineOf(keyOfRecipient(recipient, this.#unique));
  }
}

/** Some lines of a list: a bit for each. */
export class LineSet {
  #bits = new Uint8Array(1 << 10);

  add(line: number): void {
    const at = line >> 3;
    if (at >= this.#bits.length) {
      const larger = new Uint8Array(2 ** Math.ceil(Math.log2(at + 1)));
      larger.set(this.#bits);
      this.#bits = larger;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (line & 7));
  }

  has(line: number): boolean {
    return ((this.#bits[line >> 3] ?? 0) & (1 << (line & 7))) !== 0;
  }
}
