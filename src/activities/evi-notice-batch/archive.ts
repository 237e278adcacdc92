// The affidavits of all notices of a batch, collected into one ZIP, resumably (P2 §4.2 Downloads, §6.3). Some notices at a time
// become a part of it, which is kept; the archive is the parts one after the other.
import type { DocumentReference } from "../../contracts/shared/values.js";
import { uploadId } from "../../documents/document-id.js";
import type { Spool } from "../../documents/spool.js";
import type { AffidavitFile } from "../../providers/evi/affidavit-zip.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import { fileHeader, zipOf } from "../../zip/zip-writer.js";
import type { ZipEntry } from "../../zip/zip-writer.js";
import { whenVisible } from "../evi/affidavits.js";
import { NotChangedYet } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import type { BatchContext, OfBatch } from "./context.js";
import { attemptLimit } from "./limits.js";
import { storeOnce } from "./made-document.js";

export interface AffidavitArchive {
  /** Absent without any affidavit. */
  archive?: DocumentReference;
  /** Notices of which affidavits are in it, and of which there were none until the deadline. */
  collected: number;
  missing: number;
}

interface Notice {
  evidenceId: string;
  line?: number;
}

const NOTICES_PER_PART = 200;

/**
 * How many affidavits a notice gets is not shown (P2 §2.6), so they are collected at the deadline, the end of their window. A notice
 * that has none then is not asked for again.
 */
export async function archiveAffidavits(
  context: BatchContext,
  { deadline, stamp }: OfBatch & { deadline: string; stamp: string; mode: AttemptMode },
): Promise<AffidavitArchive> {
  const { deps, process: processKey } = context;
  const restMs = Date.parse(deadline) - (await deps.journal.now()).getTime();
  if (restMs > 0) throw new NotChangedYet(restMs);
  const checkTime = attemptLimit();
  for (;;) {
    const some = await deps.parts.missing(processKey, { limit: NOTICES_PER_PART });
    if (some.length === 0) break;
    checkTime();
    await collect(context, some);
  }
  const counts = await deps.parts.counts(processKey);
  if (counts.collected === 0) return counts;
  const made = { kind: "archive" as const, parts: [stamp] };
  const parts = await deps.parts.list(processKey);
  const archive = await storeOnce(context, made, "application/zip", () =>
    zipOf(
      parts.map(({ part, document, size }) => ({
        size,
        pieces: () => deps.documents.openRead({ uri: document, size }),
        entries: async () => entriesOf(await deps.parts.entries(processKey, part)),
      })),
    ),
  );
  for (const { document } of parts) await deps.documents.delete(document);
  await deps.parts.remove(processKey);
  return { archive, ...counts };
}

async function collect(context: BatchContext, notices: Notice[]): Promise<void> {
  const { deps, process: processKey, pace } = context;
  await deps.documents.withSpool(async (spool) => {
    const found = await pace.all(notices, async (notice) => ({
      notice,
      files: await download(context, notice, spool),
    }));
    const full = found.filter(({ files }) => files.length > 0);
    const none = found.filter(({ files }) => files.length === 0);
    if (full.length > 0) {
      const entries: ZipEntry[] = [];
      const files = full.flatMap((one) => namedFiles(one.notice, one.files));
      const id = uploadId();
      await deps.journal.own(processKey, [{ id, kind: "archive" }]);
      const { uri, size } = await deps.documents.putStream(
        partOf(files, entries),
        "application/octet-stream",
        { id, process: processKey },
      );
      const part = { document: uri, size, entries: Buffer.from(JSON.stringify(entries)) };
      const ids = full.map(({ notice }) => notice.evidenceId);
      if (!(await deps.parts.add(processKey, part, ids))) await deps.documents.delete(uri);
    }
    await deps.parts.noteNone(
      processKey,
      none.map(({ notice }) => notice.evidenceId),
    );
  });
}

function download(
  context: BatchContext,
  { evidenceId: id }: Notice,
  spool: Spool,
): Promise<AffidavitFile[]> {
  const downloading = context.throughCircuit("downloadAffidavits", (signal) =>
    eviNotice.downloadAffidavits(context.account, { id }, spool, signal),
  );
  return whenVisible<AffidavitFile[]>(downloading, []);
}

/** In a folder for each notice, which begins with the line of its recipient. */
function namedFiles({ evidenceId, line }: Notice, files: AffidavitFile[]) {
  const folder = [line, evidenceId].filter((part) => part !== undefined).join("-");
  const taken = new Set<string>();
  return files.map(({ fileName, ...file }, index) => {
    const name = taken.has(fileName) ? `${index + 1}-${fileName}` : fileName;
    taken.add(name);
    return { ...file, name: `${folder}/${name}` };
  });
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
