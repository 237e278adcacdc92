// Collects the affidavits of all notices of a batch into one ZIP, resumably (P2 §4.2 Downloads, §6.3). Some notices at a time become a part
// of it, which is kept; the archive is the parts one after the other.
import * as eviNotice from "../../providers/evi-notice/client.js";
import { createHash } from "node:crypto";
import type { ArchivePart } from "../../batch/items/parts.js";
import { fileHeader, zipOf } from "../../batch/zip/zip-writer.js";
import type { ZipEntry } from "../../batch/zip/zip-writer.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import { uploadId } from "../../documents/document-id.js";
import type { Spool } from "../../documents/spool.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { AffidavitFile } from "../../providers/evi/affidavit-zip.js";
import { GoesOnLater } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import { isOtherAnswer, whenVisible } from "../runtime/polling.js";
import type { BatchContext, OfBatch } from "./context.js";
import { attemptLimit } from "./context.js";
import { isPlainId } from "./sweep.js";

export interface AffidavitArchive {
  /** Absent without any affidavit. */
  archive?: DocumentReference;
  /** Notices of which affidavits are in it, and of which there were none until the deadline. */
  collected: number;
  missing: number;
  /** So many of the missing ones have an answer of the provider that could not be read. */
  unreadable: number;
}

interface Notice {
  evidenceId: string;
  line?: number;
}

interface Downloaded {
  notice: Notice;
  files: AffidavitFile[];
  /** Why the answer cannot be read. */
  problem?: ProviderError;
}

const NOTICES_PER_PART = 200;
/** So many unreadable answers in a part, and no readable one, are no fault of single notices. */
const MOST_UNREADABLE = 10;

/**
 * How many affidavits a notice gets is not shown (P2 §2.6), so they are collected at the deadline, the end of their window. A notice
 * that has none then is not asked for again. An archive is made once: a later run of the process gets the same one.
 */
export async function archiveAffidavits(
  context: BatchContext,
  { deadline, stamp }: OfBatch & { deadline: string; stamp: string; mode: AttemptMode },
): Promise<AffidavitArchive> {
  const { deps, process: processKey } = context;
  const before = await partsOrArchive(context);
  if (!Array.isArray(before)) return before;
  const restMs = Date.parse(deadline) - (await deps.journal.now()).getTime();
  if (restMs > 0) throw new GoesOnLater(restMs);
  const checkTime = attemptLimit();
  for (;;) {
    const some = await deps.parts.missing(processKey, NOTICES_PER_PART);
    if (some.length === 0 || (await deps.parts.kept(processKey))) break;
    checkTime();
    await collect(context, some);
  }
  const counts = await deps.parts.counts(processKey);
  if (counts.collected === 0) {
    if (counts.unreadable === 0) return counts;
    await deps.parts.askAgain(processKey);
    throw context.problem("downloadAffidavits", "no answer with affidavits could be read");
  }
  const parts = await partsOrArchive(context);
  if (!Array.isArray(parts)) return parts;
  const made = { kind: "archive" as const, parts: [stamp, String(parts.length)] };
  const stored = await context.storeOnce(made, "application/zip", () =>
    zipOf(
      parts.map(({ part, document, size }) => ({
        size,
        pieces: () => deps.documents.openRead({ uri: document, size }),
        entries: async () => entriesOf(await deps.parts.entries(processKey, part)),
      })),
    ),
  );
  const archive = await deps.parts.keep(processKey, stored, parts.length);
  if (archive?.uri !== stored.uri) await deps.documents.delete(stored.uri);
  if (!archive) throw new GoesOnLater(1);
  // `cleanup` deletes those that are left where the worker is killed here.
  for (const part of parts) await deps.documents.delete(part.document);
  return { archive, ...(await deps.parts.counts(processKey)) };
}

/** The parts, or what was made of them, which must be there. Collected affidavits are never left out of an archive. */
async function partsOrArchive(context: BatchContext): Promise<ArchivePart[] | AffidavitArchive> {
  const { deps, process: processKey } = context;
  const parts = await deps.parts.list(processKey);
  // Read after the parts, which are gone once it is there.
  const archive = await deps.parts.kept(processKey);
  const counts = await deps.parts.counts(processKey);
  if (archive) {
    if (await deps.documents.exists(archive.uri)) return { archive, ...counts };
    throw context.problem(
      "downloadAffidavits",
      "the archive of the affidavits was made, and its document is gone",
    );
  }
  if (parts.length > 0 || counts.collected === 0) return parts;
  throw context.problem(
    "downloadAffidavits",
    "affidavits were collected, and neither their parts nor their archive are known any more",
  );
}

/** Asks twice for what cannot be read, since it may have been damaged on its way, and then leaves it out. */
async function collect(context: BatchContext, notices: Notice[]): Promise<void> {
  const { deps, process: processKey, pace } = context;
  await deps.documents.withSpool(async (spool) => {
    const ask = (some: Notice[]) =>
      pace.all(some, (notice): Promise<Downloaded> => download(context, notice, spool));
    const first = await ask(notices);
    const again = await ask(first.filter(({ problem }) => problem).map(({ notice }) => notice));
    const found = [...first.filter(({ problem }) => !problem), ...again];
    const full = found.filter(({ files }) => files.length > 0);
    const unreadable = again.filter(({ problem }) => problem);
    const absent = found.filter(({ files, problem }) => files.length === 0 && !problem);
    if (full.length === 0 && unreadable.length > MOST_UNREADABLE) throw unreadable[0]?.problem;
    if (full.length > 0) {
      const entries: ZipEntry[] = [];
      const files = full.flatMap((one) => namedFiles(one.notice, one.files));
      const id = uploadId();
      await deps.journal.addOwner(processKey, [{ id, kind: "archive" }]);
      const { uri, size } = await deps.documents.putStream(
        partOf(files, entries),
        "application/octet-stream",
        { id, process: processKey },
      );
      const part = { document: uri, size, entries: Buffer.from(JSON.stringify(entries)) };
      if (!(await deps.parts.add(processKey, part, idsOf(full)))) await deps.documents.delete(uri);
    }
    await deps.parts.noteNone(processKey, idsOf(absent), "absent");
    await deps.parts.noteNone(processKey, idsOf(unreadable), "unreadable");
  });
}

function idsOf(found: Downloaded[]): string[] {
  return found.map(({ notice }) => notice.evidenceId);
}

async function download(context: BatchContext, notice: Notice, spool: Spool): Promise<Downloaded> {
  const { evidenceId: id } = notice;
  if (!isPlainId(id)) return { notice, files: [] };
  const downloading = context.throughCircuit("downloadAffidavits", (signal) =>
    eviNotice.downloadAffidavits(context.account, { id }, spool, signal),
  );
  try {
    return { notice, files: (await whenVisible(downloading)) ?? [] };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { notice, files: [], problem: error };
  }
}

/** The answer is no ZIP of PDFs, or too large: the provider answers, and waiting changes nothing. */
function isUnreadable(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError) || error.kind !== "protocol") return false;
  return isOtherAnswer(error) || error.code === "ANSWER_TOO_LARGE";
}

function namedFiles(notice: Notice, files: AffidavitFile[]) {
  const names = uniqueNames(files.map(({ fileName }) => fileName));
  const folder = folderOf(notice);
  return files.map(({ size, crc32, pieces }, index) => ({
    name: `${folder}/${names[index]}`,
    size,
    crc32,
    pieces,
  }));
}

/** Fills `entries`. */
async function* partOf(
  files: ReturnType<typeof namedFiles>,
  entries: ZipEntry[],
): AsyncGenerator<Buffer> {
  let start = 0;
  for (const { name, size, crc32, pieces } of files) {
    const file = { name, size, crc32 };
    const header = fileHeader(file);
    entries.push({ ...file, start });
    yield header;
    yield* pieces();
    start += header.length + size;
  }
}

function entriesOf(stored: Buffer): ZipEntry[] {
  return JSON.parse(stored.toString()) as ZipEntry[];
}

// The names of the files come from outside: none leaves its folder, and no two are the same, on a disk that ignores case either.
const SAFE_FOLDER = /^\w[\w-]{0,99}$/;

/** A folder for each notice: the line of its recipient, and its id, or the digest of an id that is no plain name. */
export function folderOf({ evidenceId, line }: { evidenceId: string; line?: number }): string {
  const digest = () => createHash("sha256").update(evidenceId).digest("hex").slice(0, 32);
  const id = SAFE_FOLDER.test(evidenceId) ? evidenceId : digest();
  return [line, id].filter((part) => part !== undefined).join("-");
}

/** The names in their order, each that another one has already with a number before it. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let number = 2; taken.has(unique.toLowerCase()); number += 1) unique = `${number}-${name}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}
