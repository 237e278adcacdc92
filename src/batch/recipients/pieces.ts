// Writes files line by line, as a stream of pieces.

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
