// Counts the lines of a file up to a byte, while the file comes in pieces.

export const LINE_FEED = 10;

export class LineCounter {
  /** The pieces that are not counted to their end. */
  readonly #pieces: Buffer[] = [];
  #start = 0;
  #counted = 0;
  #lineEnds = 0;
  #isAtLineStart = true;

  add(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  /** The number of the line that the byte before `offset` belongs to, from 1. No offset may be less than an earlier one. */
  lineBefore(offset: number): number {
    while (this.#counted < offset) {
      const [piece] = this.#pieces;
      if (!piece) throw new RangeError("these bytes have not come yet");
      const end = Math.min(offset - this.#start, piece.length);
      let at = piece.indexOf(LINE_FEED, this.#counted - this.#start);
      for (; at !== -1 && at < end; at = piece.indexOf(LINE_FEED, at + 1)) this.#lineEnds += 1;
      this.#isAtLineStart = piece[end - 1] === LINE_FEED;
      this.#counted = this.#start + end;
      if (end < piece.length) break;
      this.#pieces.shift();
      this.#start += piece.length;
    }
    return this.#isAtLineStart ? this.#lineEnds : this.#lineEnds + 1;
  }

  /** The number of the line that begins or goes on at `offset`. */
  lineAt(offset: number): number {
    this.lineBefore(offset);
    return this.#lineEnds + 1;
  }
}
