// A ZIP as an answer (P2 §4.1, §4.2).
import { mismatchError } from "../http/answer.js";
import type { Answered } from "../http/call.js";
import { AnswerMismatch, isJsonType, keptFile } from "../http/described.js";
import type { KeptFile } from "../http/exchange.js";
import type { ProviderOperation } from "../effect-classes.js";
import { UnreadableZip } from "./zip.js";

/** A file of an answer, in what the call kept it in. */
export interface DownloadedFile {
  /** Nothing of a path. */
  fileName: string;
  size: number;
  sha256: string;
  /** Its bytes, for each call anew, as long as the answer is kept. */
  pieces(): AsyncIterable<Buffer>;
}

/** Its content is checked when it is read. */
export const ZipFile = keptFile("a ZIP", (type) => !type.startsWith("text/") && !isJsonType(type));

/** Returns what `read` makes of the ZIP; throws ProviderError `protocol` for one that cannot be used. */
export async function unzipped<T>(
  asked: ProviderOperation,
  answer: Answered<KeptFile | undefined>,
  read: (zip: KeptFile) => Promise<T>,
): Promise<T> {
  try {
    if (!answer.value) throw new UnreadableZip("the answer is no ZIP");
    return await read(answer.value);
  } catch (error) {
    if (!(error instanceof UnreadableZip)) throw error;
    const text = `with a file that cannot be used: ${error.message}`;
    throw mismatchError(asked, answer, new AnswerMismatch("content", text));
  }
}
