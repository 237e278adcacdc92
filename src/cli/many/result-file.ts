// What became of each row, as CSV that is written as it goes: a killed command loses nothing. A second run adds lines for what has changed,
// so the last line of an id counts.
import { open, readFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { csvLine } from "../../contracts/shared/text.js";
import { invalidInput } from "../files.js";

export type RowResult = "started" | "joined" | "failed" | "notStarted";

export interface Outcome {
  line: number;
  id: string;
  result: RowResult;
  /** The code of the client's error, and its message. */
  error?: string;
  message?: string;
}

const HEADER = csvLine(["id", "result", "error", "message"]);
const END = "\r\n";

export class ResultFile {
  readonly #file: FileHandle;
  /** What the last line of each id says. */
  readonly #last: Map<string, string>;

  private constructor(file: FileHandle, last: Map<string, string>) {
    this.#file = file;
    this.#last = last;
  }

  /** Creates the file, or goes on with one that an earlier run has begun. Only its owner can read it. */
  static async open(path: string): Promise<ResultFile> {
    const refuse = (problem: string) => invalidInput([{ path: "--result", problem }]);
    const cannot = ({ code = "", name }: NodeJS.ErrnoException): never => {
      throw refuse(`cannot write ${path} (${code || name})`);
    };
    const file = await open(path, "a+", 0o600).catch(cannot);
    const text = await readFile(file, "utf8").catch(cannot);
    if (!HEADER.startsWith(text.slice(0, HEADER.length))) {
      await file.close();
      throw refuse(`${path} is not the result of an earlier run`);
    }
    if (text.length < HEADER.length) {
      await file.truncate();
      await file.appendFile(HEADER);
      return new ResultFile(file, new Map());
    }
    // A kill may have cut the last line off.
    const whole = text.slice(0, text.lastIndexOf(END) + END.length);
    await file.truncate(Buffer.byteLength(whole));
    return new ResultFile(file, lastIn(whole));
  }

  /** An id whose last line says the same needs no second one. */
  async add({ id, result, error = "", message = "" }: Outcome): Promise<void> {
    const line = csvLine([id, result, error, message]);
    const said = saidBy(result, line.trimEnd());
    if (this.#last.get(id) === said) return;
    await this.#file.appendFile(line);
    this.#last.set(id, said);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function lastIn(text: string): Map<string, string> {
  const last = new Map<string, string>();
  // `csvLine` puts an apostrophe before an id that a spreadsheet would read as a formula; no message has a line end.
  for (const [line, id = "", result = ""] of text.matchAll(/^"'?([^"]*)","(\w+)"[^\r\n]*/gm))
    last.set(id, saidBy(result, line));
  return last;
}

/** Started and joined are the same: its process is there. */
function saidBy(result: string, line: string): string {
  return result === "started" || result === "joined" ? "there" : line;
}
