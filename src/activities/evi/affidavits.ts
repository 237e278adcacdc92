// Affidavits and attachments of a communication: fetched from the provider and kept under our own hash (P2 §2.5, §4.1, §4.2, §6.3;
// docs/reading-the-specification.md §2).
import { createHash } from "node:crypto";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { derivedDocumentId } from "../../documents/document-id.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { Provider } from "../../providers/registry.js";
import type { ProviderContext } from "../runtime/provider-context.js";

export interface EviAffidavit {
  id: string;
  date?: string | undefined;
  description?: string | undefined;
}

/** One download for all. An affidavit that the answer does not hold yet is left out; a later poll asks for it again. */
export async function keepAffidavits<P extends Provider>(
  context: ProviderContext<P>,
  uniqueId: string,
  wanted: EviAffidavit[],
  download: (wanted: EviAffidavit[]) => Promise<Map<string, Buffer>>,
): Promise<ProcessDocument[]> {
  if (wanted.length === 0) return [];
  const files = await download(wanted);
  return Promise.all(
    wanted.flatMap(({ id, date, description }) => {
      const bytes = files.get(id);
      if (!bytes) return [];
      const own = {
        kind: "affidavit" as const,
        uniqueId: id,
        ...(date === undefined ? {} : { date }),
        ...(description === undefined ? {} : { description }),
      };
      return [keepFile(context, [uniqueId, id], bytes, "application/pdf", own)];
    }),
  );
}

/**
 * Stores a file that the provider gave; the process owns it first. Its id is made of the provider, `ids` and the content, so
 * that a retry stores no second one, and another version under the same id has a document of its own.
 */
export async function keepFile<P extends Provider>(
  { provider, deps: { documents, journal }, process: processKey }: ProviderContext<P>,
  ids: string[],
  bytes: Buffer,
  mediaType: string,
  own: Omit<ProcessDocument, "document" | "kind"> & { kind: "affidavit" | "attachment" },
): Promise<ProcessDocument> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const id = derivedDocumentId(provider, ...ids, sha256);
  await journal.own(processKey, [{ id, kind: own.kind }]);
  return { ...own, document: await documents.put(bytes, mediaType, { id, process: processKey }) };
}

/** A download that is not there yet has nothing. */
export async function whenVisible<T>(download: Promise<T>, nothing: T): Promise<T> {
  try {
    return await download;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === "notVisibleYet") return nothing;
    throw error;
  }
}
