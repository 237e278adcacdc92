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
  readonly #there: Set<string>;

  private constructor(file: FileHandle, there: Set<string>) {
    this.#file = file;
    this.#there = there;
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
      return new ResultFile(file, new Set());
    }
    // A kill may have cut the last line off.
    const whole = text.slice(0, text.lastIndexOf(END) + END.length);
    await file.truncate(Buffer.byteLength(whole));
    return new ResultFile(file, idsThere(whole));
  }

  /** An id whose process the file has already needs no second line for joining it. */
  async add({ id, result, error = "", message = "" }: Outcome): Promise<void> {
    const isThere = result === "started" || result === "joined";
    if (isThere && this.#there.has(id)) return;
    await this.#file.appendFile(csvLine([id, result, error, message]));
    if (isThere) this.#there.add(id);
    else this.#there.delete(id);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** The ids whose last line says that their process is there. */
function idsThere(text: string): Set<string> {
  const last = new Map<string, string>();
  // `csvLine` puts an apostrophe before an id that a spreadsheet would read as a formula; no message has a line end.
  for (const [, id = "", result = ""] of text.matchAll(/^"'?([^"]*)","(\w+)"/gm))
    last.set(id, result);
  return new Set(
    [...last].filter(([, result]) => result === "started" || result === "joined").map(([id]) => id),
  );
}
