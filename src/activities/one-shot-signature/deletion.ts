// The documents of a signature request, deleted at the provider once all that was signed is kept here (P1 §1.4).
import type { ProcessDocument } from "../../contracts/shared/status.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import { sha256Of, isPdf } from "../../documents/content.js";
import { derivedDocumentId, uriOf } from "../../documents/document-id.js";
import { DocumentNotFoundError } from "../../documents/store.js";
import { mayExist } from "../../journal/row.js";
import * as oneShot from "../../providers/one-shot-signature/client.js";
import type { StepCall } from "../runtime/activity.js";
import { asInvalidInput, checkDocument, unlessMissing, wasSent } from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import { provider } from "./context.js";
import type { OneShotContext, OneShotRequest } from "./context.js";

const DELETION = "deleteDocuments";

type Deletion = StepCall & OneShotRequest & { signed: DocumentReference[] };

/** Only once all of each signed copy was read and has its hash. A copy that is missing by then waits for an operator. */
export async function deleteDocuments(
  context: OneShotContext,
  { effect, requestPk, signed }: Deletion,
): Promise<void> {
  const earlier = await context.rowsOf(DELETION);
  if (earlier.some(({ state }) => state === "answered")) return;
  const isRepetition = earlier.some(mayExist);
  for (const document of signed) {
    const checking = checkDocument(context.deps.documents, document, "signed");
    await unlessMissing(context, "deleteDocuments", checking);
  }
  await runEffect(context, effect, {
    operation: "deleteDocuments",
    input: { requestPk },
    send: ({ signal }) =>
      oneShot.deleteDocuments(context.account, { requestPk, isRepetition }, signal),
  });
}

/** Whether an earlier run, or one before a reset, may have deleted them. It did so only after all was signed and kept. */
export async function mayBeDeleted(context: OneShotContext): Promise<boolean> {
  return (await context.rowsOf(DELETION)).some(wasSent);
}

/** Returns the signed documents as they were kept before the deletion; undefined if a copy of one of the `names` is not there. */
export async function keptBeforeDeletion(
  context: OneShotContext,
  requestPk: string,
  names: string[],
): Promise<ProcessDocument[] | undefined> {
  const finding = kept(context, requestPk, names).catch(asInvalidInput("signed"));
  const found = await unlessMissing(context, "retrieve", finding);
  return found.length === names.length ? found : undefined;
}

async function kept(
  { deps: { journal, documents }, process: processKey }: OneShotContext,
  requestPk: string,
  names: string[],
): Promise<ProcessDocument[]> {
  const found = new Map<string, ProcessDocument>();
  let missing: DocumentNotFoundError | undefined;
  for (const id of await journal.ownedOf(processKey, "signed")) {
    const uri = uriOf(id);
    // One that a worker was killed before storing has its owner all the same.
    const bytes = await documents.open(uri).catch((error: unknown) => {
      if (!(error instanceof DocumentNotFoundError)) throw error;
      missing = error;
    });
    if (!bytes) continue;
    const sha256 = sha256Of(bytes);
    // The id is made of them.
    const name = names.find(
      (one) => derivedDocumentId(provider, requestPk, "signed", one, sha256) === id,
    );
    if (name === undefined) continue;
    const mediaType = isPdf(bytes) ? "application/pdf" : "application/octet-stream";
    const document = { uri, sha256, size: bytes.length, mediaType };
    found.set(name, { kind: "signed", document, description: name });
  }
  if (missing && found.size < names.length) throw missing;
  return names.flatMap((name) => found.get(name) ?? []);
}
