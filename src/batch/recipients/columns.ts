// Reads the columns of a list of recipients (P2 §2.9).
import { plainText } from "../../contracts/shared/text.js";
import { UnreadableList } from "./problems.js";
import type { ListProblem } from "./problems.js";

const mandatoryColumns = ["address", "legalname"] as const;

const optionalColumns = [
  "lookupkey",
  "displayname",
  "custodychallenge",
  "custodychallengeresponse",
  "deliverychallenge",
  "deliverychallengeresponse",
  "deliveryotpchannel",
  "deliveryotpaddress",
] as const;

/** These columns hold secrets (docs/reading-the-specification.md §8). */
const secretColumns: ReadonlySet<string> = new Set([
  "custodychallengeresponse",
  "deliverychallengeresponse",
]);

/** P2 §2.9. */
export const listColumns: readonly string[] = [...mandatoryColumns, ...optionalColumns];
const known: ReadonlySet<string> = new Set(listColumns);

/** Control characters but for tabs and line ends, and the sign that stands for a character that was lost. */
export const damaged = /(?![\t\r\n])\p{Cc}|\ufffd|\r(?!\n)/u;
export const damagedRule = "must have no control character, and no � for a lost one";

const MAX_COLUMNS = 200;
const MAX_LABEL_BYTES = 60;

export interface Columns {
  names: readonly string[];
  /** How a report names each of them. */
  labels: readonly string[];
  /** Each counts the place of its column in a row, from 0. */
  address: number;
  legalName: number;
  lookupKey?: number;
  /** The answers to challenges. */
  secrets: readonly number[];
}

/**
 * Throws UnreadableList with everything that is wrong with the header. A file without a header has a recipient there, so no
 * problem repeats what it says.
 */
export function readHeader(header: readonly string[], line: number): Columns {
  const problems = [...problemsOf(header)];
  if (problems.length > 0)
    throw new UnreadableList(
      ...problems.map((problem): ListProblem => ({ kind: "header", line, ...problem })),
    );
  const lookupKey = header.indexOf("lookupkey");
  return {
    names: header,
    labels: header.map((name) => plainText(name, MAX_LABEL_BYTES)),
    address: header.indexOf("address"),
    legalName: header.indexOf("legalname"),
    ...(lookupKey !== -1 && { lookupKey }),
    secrets: header.flatMap((name, place) => (secretColumns.has(name) ? [place] : [])),
  };
}

/** Whom a row below the header names. */
export function recipientIn(
  fields: readonly string[],
  { address, lookupKey }: Columns,
): { address: string; lookupKey?: string } {
  const key = lookupKey === undefined ? undefined : fields[lookupKey];
  return { address: fields[address] ?? "", ...(key && { lookupKey: key }) };
}

function* problemsOf(header: readonly string[]): Generator<{ column?: string; problem: string }> {
  if (header.length > MAX_COLUMNS)
    return yield { problem: `must have at most ${MAX_COLUMNS} columns` };
  const missing = mandatoryColumns.filter((name) => !header.includes(name));
  if (missing.length > 0) {
    const hint = header.length === 1 ? "; the columns must be separated by semicolons" : "";
    yield { problem: `must have the columns ${missing.join(" and ")} (P2 §2.9)${hint}` };
  }
  const taken = new Set<string>();
  for (const [place, name] of header.entries()) {
    const shown = plainText(name).normalize().trim();
    const problem = problemOf(name, shown, taken.has(shown));
    taken.add(shown);
    if (problem !== undefined) yield { column: `#${place + 1}`, problem };
  }
}

/** `shown`: the name as a person sees it. */
function problemOf(name: string, shown: string, isTaken: boolean): string | undefined {
  if (damaged.test(name)) return damagedRule;
  if (/[\t\r\n]/.test(name)) return "must be one line without tabs";
  if (shown === "" || shown === "*") return "must have a name";
  if (isTaken) return "must not have the name of another column";
  if (known.has(name) || name.startsWith("*")) return undefined;
  return "must be a column of P2 §2.9, in lower case, or a custom field, whose name starts with *";
}
