// Affidavits: fetched from the provider and kept under our own hash (P2 §2.5, §4.1, §6.3; docs/reading-the-specification.md §2).
import { cancellationSignal } from "@temporalio/activity";
import { createHash } from "node:crypto";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { derivedDocumentId } from "../../documents/document-id.js";
import type { PostalAffidavit } from "../../providers/evi-post/client.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { execution } from "../runtime/effect.js";
import { eviPost } from "./context.js";
import type { AttemptAccount, PostOffice } from "./context.js";

interface Fetch {
  account: AttemptAccount;
  uniqueId: string;
  wanted: PostalAffidavit[];
}

/** One download for all; what the answer does not hold yet is asked for again another time. */
export async function fetchAffidavits(
  office: PostOffice,
  fetch: Fetch,
): Promise<ProcessDocument[]> {
  const { uniqueId, wanted } = fetch;
  if (wanted.length === 0) return [];
  const files =
    fetch.account.affidavits.mode === "blobs"
      ? await blobs(office, fetch)
      : await download(office, fetch);
  return Promise.all(
    wanted.flatMap((affidavit) => {
      const bytes = files.get(affidavit.uniqueId);
      if (!bytes) return [];
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const id = derivedDocumentId("evi-post", uniqueId, affidavit.uniqueId, sha256);
      return [keep(office, affidavit, bytes, id)];
    }),
  );
}

async function keep(
  { has: { documents, journal } }: PostOffice,
  { uniqueId, date, description }: PostalAffidavit,
  bytes: Buffer,
  id: string,
): Promise<ProcessDocument> {
  const kind = "affidavit";
  const process = execution();
  await journal.own(process, [{ id, kind }]);
  return {
    kind,
    document: await documents.put(bytes, "application/pdf", { id, process }),
    uniqueId,
    ...(date === undefined ? {} : { date }),
    ...(description === undefined ? {} : { description }),
  };
}

async function download(
  office: PostOffice,
  { account, wanted }: Fetch,
): Promise<Map<string, Buffer>> {
  const ids = wanted.map(({ uniqueId }) => uniqueId);
  try {
    const files = await office.reach(account, "downloadAffidavits", () =>
      eviPost.downloadAffidavits(account, ids, cancellationSignal()),
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

async function blobs(
  office: PostOffice,
  { account, uniqueId }: Fetch,
): Promise<Map<string, Buffer>> {
  const { results } = await office.reach(account, "query", () =>
    eviPost.query(account, { uniqueIds: [uniqueId], includeBlobs: true }, cancellationSignal()),
  );
  const affidavits = results.flatMap((item) => item.affidavits ?? []);
  return new Map(
    affidavits.flatMap(({ uniqueId: id, bytes }) => (bytes ? [[id, bytes] as const] : [])),
  );
}
