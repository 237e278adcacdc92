// Counts what is wrong with a list of recipients by kind and column, and names the lines of the first problems. It holds no value of the
// list.

export type ProblemKind =
  /** These concern the file: nothing after them is read. */
  | "file"
  | "encoding"
  | "header"
  | "quotes"
  | "length"
  /** These concern one row. */
  | "fields"
  | "strayQuote"
  | "missing"
  | "address"
  | "duplicate"
  | "characters";

export interface ListProblem {
  kind: ProblemKind;
  /** In the file, from 1; the first one where a row goes over several lines. Absent where the problem has no line. */
  line?: number;
  /** The column's name, or its place in the header as `#3`. */
  column?: string;
  /** A sentence without its subject. */
  problem: string;
}

export interface ProblemCount {
  kind: ProblemKind;
  column?: string;
  count: number;
}

/** The first problems are listed; all are counted. */
interface ListProblems {
  problems: ListProblem[];
  counts: ProblemCount[];
}

/** How many problems there are beyond those that are named. */
export function unnamedProblems({ problems, counts }: ListProblems): number {
  return counts.reduce((sum, { count }) => sum + count, 0) - problems.length;
}

/**
 * Returns the problems of a refused list as those of the input's field. `between` stands between line and column; `hint` says where the
 * problems are that are not named.
 */
export function problemFields(
  found: ListProblems,
  { between = ", ", hint = "" } = {},
): { path: string; problem: string }[] {
  const named = found.problems.map(({ line, column, problem }) => {
    const place = [line !== undefined && `line ${line}`, column].filter(Boolean).join(between);
    return place === "" ? problem : `${place}: ${problem}`;
  });
  const more = unnamedProblems(found);
  const all = more > 0 ? [...named, `has ${more} more problems${hint}`] : named;
  return all.map((problem) => ({ path: "recipients", problem }));
}

/** Bounded, whatever the list: so many problems are kept, and the kinds and columns are few. */
export class ProblemLog {
  readonly first: ListProblem[] = [];
  readonly #most: number;
  readonly #onProblem: ((problem: ListProblem) => void) | undefined;
  readonly #counts = new Map<string, ProblemCount>();

  constructor(most: number, onProblem?: (problem: ListProblem) => void) {
    this.#most = most;
    this.#onProblem = onProblem;
  }

  add(problem: ListProblem): void {
    this.#onProblem?.(problem);
    const { kind, column } = problem;
    const key = `${kind} ${column ?? ""}`;
    const counted = this.#counts.get(key);
    if (counted) counted.count += 1;
    else this.#counts.set(key, { kind, ...(column !== undefined && { column }), count: 1 });
    if (this.first.length < this.#most) this.first.push(problem);
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** The most frequent first. */
  get counts(): ProblemCount[] {
    return [...this.#counts.values()].toSorted((one, other) => other.count - one.count);
  }
}

/** The list cannot be read from here on. */
export class UnreadableList extends Error {
  override readonly name = "UnreadableList";
  readonly problems: ListProblem[];

  constructor(...problems: ListProblem[]) {
    super("the list of recipients cannot be read");
    this.problems = problems;
  }
}
