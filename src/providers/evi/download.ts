// A ZIP as an answer (P2 §4.1, §4.2).
import { mismatchError } from "../http/answer.js";
import type { Answered } from "../http/call.js";
import { AnswerMismatch, file, isJsonType } from "../http/described.js";
import type { ProviderOperation } from "../effect-classes.js";
import { UnreadableZip } from "./zip.js";

/** What is in it is checked when it is read. */
export const ZipFile = file("a ZIP", (type) => !type.startsWith("text/") && !isJsonType(type));

/** What `read` makes of the ZIP; throws ProviderError `protocol` for one that cannot be used. */
export function unzipped<T>(
  asked: ProviderOperation,
  answer: Answered<Buffer>,
  read: (zip: Buffer) => T,
): T {
  try {
    return read(answer.value);
  } catch (error) {
    if (!(error instanceof UnreadableZip)) throw error;
    const text = `with a file that cannot be used: ${error.message}`;
    throw mismatchError(asked, answer, new AnswerMismatch("content", text));
  }
}
