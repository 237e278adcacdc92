// Affidavits and attachments of a communication: fetched from the provider and kept under our own hash (P2 §2.5, §4.1, §4.2, §6.3;
// docs/reading-the-specification.md §2).
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { derivedDocumentId } from "../../documents/document-id.js";
import type { Spool } from "../../documents/spool.js";
import type { Pieces } from "../../documents/store.js";
import type { Provider } from "../../providers/registry.js";
import type { ProviderContext } from "../runtime/provider-context.js";

export interface EviAffidavit {
  id: string;
  date?: string | undefined;
  description?: string | undefined;
}

/** A file that the provider gave. A download is read from the spool. */
export interface FetchedFile {
  sha256: string;
  pieces(): Pieces;
}

/** The PDFs by the id of their affidavit, as far as the provider has them. What is downloaded goes into the spool. */
export type AffidavitDownload = (
  wanted: EviAffidavit[],
  spool: Spool,
) => Promise<Map<string, FetchedFile>>;

/**
 * One download for all; then the files are stored one at a time, because each may be large. An affidavit that the answer does not hold
 * yet is left out; a later poll asks for it again.
 */
export async function keepAffidavits<P extends Provider>(
  context: ProviderContext<P>,
  uniqueId: string,
  wanted: EviAffidavit[],
  download: AffidavitDownload,
): Promise<ProcessDocument[]> {
  if (wanted.length === 0) return [];
  return context.deps.documents.withSpool(async (spool) => {
    const files = await download(wanted, spool);
    const kept: ProcessDocument[] = [];
    for (const { id, date, description } of wanted) {
      const file = files.get(id);
      if (!file) continue;
      const own = {
        kind: "affidavit" as const,
        uniqueId: id,
        ...(date === undefined ? {} : { date }),
        ...(description === undefined ? {} : { description }),
      };
      kept.push(await keepFile(context, [uniqueId, id], file, "application/pdf", own));
    }
    return kept;
  });
}

/**
 * Stores a file that the provider gave; the process owns it first. Its id is made of the provider, `ids` and the content, so
 * that a retry stores no second one, and another version under the same id has a document of its own.
 */
export async function keepFile<P extends Provider>(
  { provider, deps: { documents, journal }, process: processKey }: ProviderContext<P>,
  ids: string[],
  file: FetchedFile,
  mediaType: string,
  own: Omit<ProcessDocument, "document" | "kind"> & { kind: "affidavit" | "attachment" },
): Promise<ProcessDocument> {
  const id = derivedDocumentId(provider, ...ids, file.sha256);
  await journal.own(processKey, [{ id, kind: own.kind }]);
  const document = await documents.putStream(file.pieces(), mediaType, { id, process: processKey });
  return { ...own, document };
}
