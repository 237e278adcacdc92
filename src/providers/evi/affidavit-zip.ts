// The ZIP of signed PDFs that an affidavit download answers with (P2 §4.1, §4.2, §6.3).
import { isPdf, AnswerMismatch, isJsonType, keptFile } from "../http/described.js";
import type { KeptFile } from "../http/exchange.js";
import { UnreadableZip, readZip, safeFileName } from "./zip.js";
import type { ZipLimits, ZippedFile } from "./zip.js";
import { mismatchError } from "../http/answer.js";
import type { Answered } from "../http/call.js";
import type { ProviderOperation } from "../effect-classes.js";

export interface AffidavitFile extends DownloadedFile {
  /** The known id that the file name contains, or the only one for an only file; else undefined. */
  id?: string;
  crc32: number;
}

/**
 * Its PDFs. Throws UnreadableZip for what is no ZIP, passes a limit, or holds anything but PDFs; where the ids are known, a file beside
 * the PDFs, which is called neither `.pdf` nor by an id, is left out.
 */
export async function readAffidavitZip(
  zip: KeptFile,
  ids: readonly string[],
  limits?: ZipLimits,
): Promise<AffidavitFile[]> {
  const all = await readZip(zip, limits);
  const namedIn = (name: string) => ids.filter((id) => assumed.zipEntryBelongsToId(name, id));
  const files = all.filter(({ start }) => isPdf(start));
  const others = all.filter(({ start }) => !isPdf(start));
  const isBeside = ({ name }: ZippedFile) => !/\.pdf$/i.test(name) && namedIn(name).length === 0;
  if (others.length > 0 && !(ids.length > 0 && files.length > 0 && others.every(isBeside)))
    throw new UnreadableZip("a file of the ZIP is no PDF");
  const only = files.length === 1 && ids.length === 1 ? ids[0] : undefined;
  return files.map(({ name, size, sha256, crc32, pieces }) => {
    const fileName = safeFileName(name, "affidavit.pdf");
    const id = namedIn(name).toSorted((a, b) => b.length - a.length)[0] ?? only;
    return { ...(id === undefined ? {} : { id }), fileName, size, sha256, crc32, pieces };
  });
}

/** The specification leaves these open. */
const assumed = {
  /**
   * P2 §4.1, §4.2: how the files of the ZIP are named is not shown; one whose name contains the id belongs to it,
   * and the only file belongs to the only id.
   */
  zipEntryBelongsToId: (entryName: string, id: string) =>
    entryName.toLowerCase().includes(id.toLowerCase()),
} as const;

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
