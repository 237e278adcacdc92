// Affidavits: fetched from the provider and kept under our own hash (P2 §2.5, §4.1, §6.3; docs/reading-the-specification.md §2).
import { createHash } from "node:crypto";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { derivedDocumentId } from "../../documents/document-id.js";
import * as eviPost from "../../providers/evi-post/client.js";
import type { PostalAffidavit } from "../../providers/evi-post/client.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { provider } from "./context.js";
import type { EviPostContext } from "./context.js";

interface Fetch {
  uniqueId: string;
  wanted: PostalAffidavit[];
}

/** One download for all. An affidavit that the answer does not hold yet is left out; a later poll asks for it again. */
export async function fetchAffidavits(
  context: EviPostContext,
  fetch: Fetch,
): Promise<ProcessDocument[]> {
  const { uniqueId, wanted } = fetch;
  if (wanted.length === 0) return [];
  const files =
    context.account.affidavits.mode === "blobs"
      ? await blobs(context, fetch)
      : await download(context, fetch);
  return Promise.all(
    wanted.flatMap((affidavit) => {
      const bytes = files.get(affidavit.uniqueId);
      if (!bytes) return [];
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const id = derivedDocumentId(provider, uniqueId, affidavit.uniqueId, sha256);
      return [keep(context, affidavit, bytes, id)];
    }),
  );
}

async function keep(
  { deps: { documents, journal }, process: processKey }: EviPostContext,
  { uniqueId, date, description }: PostalAffidavit,
  bytes: Buffer,
  id: string,
): Promise<ProcessDocument> {
  const kind = "affidavit";
  await journal.own(processKey, [{ id, kind }]);
  return {
    kind,
    document: await documents.put(bytes, "application/pdf", { id, process: processKey }),
    uniqueId,
    ...(date === undefined ? {} : { date }),
    ...(description === undefined ? {} : { description }),
  };
}

async function download(context: EviPostContext, { wanted }: Fetch): Promise<Map<string, Buffer>> {
  const ids = wanted.map(({ uniqueId }) => uniqueId);
  try {
    const files = await context.throughCircuit("downloadAffidavits", (signal) =>
      eviPost.downloadAffidavits(context.account, ids, signal),
    );
    const only = ids.length === 1 && files.length === 1 ? ids[0] : undefined;
    return new Map(
      files.flatMap(({ id = only, bytes }) => (id === undefined ? [] : [[id, bytes] as const])),
    );
  } catch (error) {
    if (error instanceof ProviderError && error.kind === "notVisibleYet") return new Map();
    throw error;
  }
}

async function blobs(context: EviPostContext, { uniqueId }: Fetch): Promise<Map<string, Buffer>> {
  const asked = { uniqueIds: [uniqueId], includeBlobs: true };
  const { results } = await context.throughCircuit("query", (signal) =>
    eviPost.query(context.account, asked, signal),
  );
  const affidavits = results.flatMap((item) => item.affidavits ?? []);
  return new Map(
    affidavits.flatMap(({ uniqueId: id, bytes }) => (bytes ? [[id, bytes] as const] : [])),
  );
}
