// Writes files line by line, as a stream of pieces.
import { openList } from "./list-reader.js";
import type { Pieces } from "./list-reader.js";

/** A little less than most pieces have: they end with a line. */
const PIECE_CHARACTERS = 65_536;

export async function* inPieces<T>(
  items: AsyncIterable<T> | Iterable<T>,
  lineOf: (item: T) => string,
): AsyncGenerator<Buffer> {
  let text = "";
  for await (const item of items) {
    text += lineOf(item);
    if (text.length < PIECE_CHARACTERS) continue;
    yield Buffer.from(text);
    text = "";
  }
  if (text !== "") yield Buffer.from(text);
}

/** A line of a list of recipients: RFC 4180, but for the semicolons (P2 §2.9). */
export function listLine(fields: readonly string[]): string {
  return `${fields.map(fieldOf).join(";")}\r\n`;
}

function fieldOf(value: string): string {
  return /[";\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/**
 * For a provider that adds a second list to the first one (P2 §4.3 does not show it). Each part has the header and at most so many
 * recipients.
 */
export async function* listParts(list: Pieces, rowsOfPart: number): AsyncGenerator<Buffer> {
  const { rows } = await openList(list);
  let header: string | undefined;
  let lines: string[] = [];
  for await (const some of rows) {
    for (const { fields } of some) {
      if (header === undefined) header = listLine(fields);
      else lines.push(listLine(fields));
      if (lines.length < rowsOfPart) continue;
      yield Buffer.from([header, ...lines].join(""));
      lines = [];
    }
  }
  if (lines.length > 0) yield Buffer.from([header, ...lines].join(""));
}
