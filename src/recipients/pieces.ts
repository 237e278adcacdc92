// Writes a file line by line, as a stream of pieces.

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
