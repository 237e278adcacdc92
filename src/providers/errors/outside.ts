// Text of a provider, or of anyone who has its callback address: made plain and limited in bytes where it is read.
import { createHash } from "node:crypto";
import { z } from "zod";
import { plainText } from "../../contracts/shared/text.js";

const MAX_WORD_BYTES = 100;
const MAX_ID_BYTES = 200;

/** A word such as a state: one line of at most 100 bytes. */
export const Word = z
  .string()
  .transform((text) => plainText(text, MAX_WORD_BYTES).trim())
  .pipe(z.string().min(1));

/** A text of at most so many bytes, in one line. */
export const textOf = (bytes: number) => z.string().transform((text) => plainText(text, bytes));

/** The code of an error whose shape is not shown: a text or a number. */
export const ErrorCode = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);

/** An id that is shown, or is compared with another one: a cut one would be another id, so it is not said at all. */
export const PlainId = z.string().regex(new RegExp(`^[\\x20-\\x7e]{1,${MAX_ID_BYTES}}$`));

/** The same for the same text: a short one of plain characters as it is, any other by its digest. */
export function eventIdOf(text: string): string {
  if (PlainId.safeParse(text).success) return text;
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
