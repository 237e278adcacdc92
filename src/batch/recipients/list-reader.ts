// Reads a list row by row: UTF-8, quotes as RFC 4180 says, and `;` between the fields, as the list of recipients of a batch has it
// (P2 §2.9), or another separator. The memory that it takes does not grow with the list.
import { Parser } from "csv-parse";
import type { CsvError } from "csv-parse";
import { isUtf8 } from "node:buffer";
import { UnreadableList } from "./problems.js";

export const LINE_FEED = 10;

/** Counts the lines of a file up to a byte, while the file comes in pieces. */
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

export interface Row {
  /** Counts the first line of the row, from 1. */
  line: number;
  /** Empty where the row has a stray quote. */
  fields: string[];
  /** A quote within a field that is not quoted. */
  hasStrayQuote?: true;
}

export type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface Opened {
  hasByteOrderMark: boolean;
  /** The header first; of each piece the rows that end in it. Blank lines are rows with one empty field. */
  rows: AsyncIterable<Row[]>;
}

/** A piece that is larger is read in parts, so that the rows of a part are few. */
const PART_BYTES = 65_536;
const MAX_ROW_CHARACTERS = 256_000;
/** In a row. csv-parse copies the field for each of them, so more would take minutes. */
const MAX_STRAY_QUOTES = 20;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const FIRST_BYTES = 4;

export type Separator = ";" | ",";

/** Throws UnreadableList, here and from `rows`. */
export async function openList(pieces: Pieces, separator: Separator = ";"): Promise<Opened> {
  const parts = partsOf(pieces);
  let head = Buffer.alloc(0);
  while (head.length < FIRST_BYTES) {
    const { done, value } = await parts.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  if (head.length === 0) throw new UnreadableList({ kind: "file", problem: "must not be empty" });
  refuseOtherFormats(head);
  const hasByteOrderMark = head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const first = hasByteOrderMark ? head.subarray(BYTE_ORDER_MARK.length) : head;
  return { hasByteOrderMark, rows: rowsOf(wholeLines(first, parts), separator) };
}

async function* partsOf(pieces: Pieces): AsyncGenerator<Buffer, undefined> {
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
  }
  return undefined;
}

/** Each with its end, but for the file's last one, and for one that is too long. */
async function* wholeLines(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun = first;
  for await (const part of rest) {
    const bytes = Buffer.concat([begun, part]);
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0 || isTooLong(bytes)) yield bytes.subarray(0, end || bytes.length);
    begun = bytes.subarray(end);
  }
  if (begun.length > 0) yield begun;
}

/** More bytes than the characters of a row can have, and no line ends in them. */
function isTooLong(bytes: Buffer): boolean {
  return bytes.length > 4 * MAX_ROW_CHARACTERS && !bytes.includes(LINE_FEED);
}

function refuseOtherFormats(head: Buffer): void {
  const refuse = (problem: string) => new UnreadableList({ kind: "encoding", problem });
  const [one, two] = head;
  const isMarked = (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff);
  if (isMarked || head.subarray(0, FIRST_BYTES).includes(0))
    throw refuse("must be UTF-8, and is UTF-16 or a binary file: save it as CSV in UTF-8");
  if (head.toString("latin1", 0, FIRST_BYTES) === "PK\u0003\u0004")
    throw refuse("must be CSV, and is a spreadsheet or a ZIP archive: save it as CSV in UTF-8");
}

async function* rowsOf(pieces: AsyncIterable<Buffer>, separator: Separator): AsyncGenerator<Row[]> {
  const reader = new RowReader(separator);
  for await (const lines of pieces) yield* reader.read(lines);
  yield* reader.end();
}

/**
 * Gives each row to `onRow`, with the offset of its end, and keeps none. csv-parse's own `on_record` copies its whole state for each
 * row, which takes a third of the time.
 */
class RowParser extends Parser {
  /** The fields of the row that is not complete: another array for each row. */
  declare readonly state: { readonly record: readonly string[] };
  readonly #onRow: (fields: string[], end: number) => void;

  constructor(
    delimiter: Separator,
    onError: (error: CsvError | undefined) => undefined,
    onRow: (fields: string[], end: number) => void,
  ) {
    super({
      delimiter,
      record_delimiter: ["\r\n", "\n"],
      relax_column_count: true,
      max_record_size: MAX_ROW_CHARACTERS,
      skip_records_with_error: true,
      on_skip: onError,
    });
    this.#onRow = onRow;
  }

  override push(row: string[] | null): boolean {
    if (row === null) return super.push(row);
    this.#onRow(row, this.info.bytes);
    return true;
  }
}

class RowReader {
  readonly #lines = new LineCounter();
  readonly #parser: RowParser;
  #rows: Row[] = [];
  #length = 0;
  /** The fields of the row whose stray quotes are counted. */
  #strayIn: readonly string[] | undefined;
  #strayQuotes = 0;
  /** The file cannot be read beyond the last line that was read. */
  #isCutOff = false;

  constructor(separator: Separator) {
    const onError = (error: CsvError | undefined) => this.#skip(error);
    this.#parser = new RowParser(separator, onError, (fields, end) => this.#take(fields, end));
    // The call that gave the bytes gets it too.
    this.#parser.on("error", () => undefined);
    this.#parser.resume();
  }

  /** The rows that end in these lines; throws UnreadableList after those that end before it. */
  async *read(lines: Buffer): AsyncGenerator<Row[]> {
    const isLong = isTooLong(lines);
    const end = isLong ? 0 : endOfUtf8(lines);
    const readable = lines.subarray(0, end);
    this.#lines.add(readable);
    this.#length += readable.length;
    if (readable.length > 0) yield* this.#parsed((done) => this.#parser.write(readable, done));
    // csv-parse limits the characters of a row without its separators.
    if (this.#parser.state.record.length > MAX_ROW_CHARACTERS) throw tooLong(this.#rowLine);
    if (end === lines.length) return;
    this.#isCutOff = true;
    yield* this.end();
    const line = this.#lines.lineAt(this.#length);
    throw isLong ? tooLong(line) : notUtf8(line);
  }

  end(): AsyncGenerator<Row[]> {
    return this.#parsed((done) => this.#parser.end(done));
  }

  async *#parsed(parse: (done: (error?: Error | null) => void) => void): AsyncGenerator<Row[]> {
    const failure = await new Promise<Error | undefined>((resolve) => {
      parse((error) => resolve(error ?? undefined));
    });
    const rows = this.#rows;
    this.#rows = [];
    yield rows;
    if (failure) throw failure;
  }

  #take(fields: string[], end: number): void {
    this.#rows.push({ line: this.#lines.lineBefore(end) - lineEndsIn(fields), fields });
  }

  /** A stray quote spoils its row alone. After another broken quote no row has a certain end. */
  #skip(error: CsvError | undefined): undefined {
    const line = this.#rowLine;
    if (error?.code === "INVALID_OPENING_QUOTE") {
      if (this.#isFirstStrayQuote()) this.#rows.push({ line, fields: [], hasStrayQuote: true });
      if (this.#strayQuotes > MAX_STRAY_QUOTES) throw brokenQuote(line);
      return undefined;
    }
    if (error?.code === "CSV_QUOTE_NOT_CLOSED" && this.#isCutOff) return undefined;
    if (error?.code === "CSV_MAX_RECORD_SIZE") throw tooLong(line);
    throw brokenQuote(line);
  }

  #isFirstStrayQuote(): boolean {
    const { record } = this.#parser.state;
    if (this.#strayIn !== record) this.#strayQuotes = 0;
    this.#strayIn = record;
    this.#strayQuotes += 1;
    return this.#strayQuotes === 1;
  }

  /** The first line of the row that is not complete; `info.bytes` is the end of the field before the one that is read. */
  get #rowLine(): number {
    const { info, state } = this.#parser;
    return this.#lines.lineAt(info.bytes) - lineEndsIn(state.record);
  }
}

/** The offset of the first line that is not UTF-8, else of the end. */
function endOfUtf8(lines: Buffer): number {
  if (isUtf8(lines)) return lines.length;
  let start = 0;
  for (;;) {
    const end = lines.indexOf(LINE_FEED, start) + 1 || lines.length;
    if (!isUtf8(lines.subarray(start, end))) return start;
    start = end;
  }
}

function notUtf8(line: number): UnreadableList {
  const problem = "must be UTF-8, and looks like Windows-1252 or Latin-1: save it as CSV in UTF-8";
  return new UnreadableList({ kind: "encoding", line, problem });
}

function tooLong(line: number): UnreadableList {
  const problem = `must have at most ${MAX_ROW_CHARACTERS} characters in a row; is a quote not closed, or do the lines not end with LF or CRLF?`;
  return new UnreadableList({ kind: "length", line, problem });
}

export function brokenQuote(line: number): UnreadableList {
  const problem =
    "must have each quoted field end before a separator or the end of the line, and each quote within it doubled";
  return new UnreadableList({ kind: "quotes", line, problem });
}

function lineEndsIn(fields: readonly string[]): number {
  let count = 0;
  for (const field of fields) {
    for (let at = field.indexOf("\n"); at !== -1; at = field.indexOf("\n", at + 1)) count += 1;
  }
  return count;
}
