// Documents in an activity: owned by the process, stored where they came inline, and read before they are sent (docs/design.md §8).
import type { DocumentInput, DocumentReference } from "../../contracts/shared/values.js";
import { derivedDocumentId, documentIdOf } from "../../documents/document-id.js";
import { documentProblem } from "../../documents/store.js";
import { isPdf } from "../../documents/content.js";
import type { DocumentStore, Pieces } from "../../documents/store.js";
import type { DocumentKind, OwnedDocument } from "../../journal/ownership.js";
import type { NamedFile } from "../../providers/http/file-form.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { execution, InvalidInput } from "./failure.js";
import type { ActivityDependencies, ProviderContext } from "./provider-context.js";
import type { Operation, Provider } from "../../providers/registry.js";
import type { EffectSummary } from "../../journal/retention.js";

type Stores = Pick<ActivityDependencies, "documents" | "journal">;

export function ownedDocument(
  { uri }: Pick<DocumentReference, "uri">,
  kind: DocumentKind,
): OwnedDocument {
  return { id: documentIdOf(uri), kind };
}

/**
 * The document as a reference. An inline document gets an owner first, and is then stored under an id made of process and
 * content, so that a retry stores no second one.
 */
export async function documentReference(
  { documents, journal }: Stores,
  document: DocumentInput,
  kind: DocumentKind,
): Promise<DocumentReference> {
  if ("uri" in document) return document;
  const processKey = execution();
  const id = derivedDocumentId(processKey.namespace, processKey.workflowId, document.base64);
  await journal.addOwner(processKey, [{ id, kind }]);
  const bytes = Buffer.from(document.base64, "base64");
  return documents.put(bytes, document.mediaType, { id, process: processKey });
}

/** The same, before any effect: the process owns the document, and it is in the store, unchanged. */
export async function checkedReference(
  stores: Stores,
  document: DocumentInput,
  kind: DocumentKind,
  path: string,
): Promise<DocumentReference> {
  const reference = await documentReference(stores, document, kind);
  await stores.journal.addOwner(execution(), [ownedDocument(reference, kind)]);
  await checkDocument(stores.documents, reference, path);
  return reference;
}

/** The document as a file that the call reads while it sends. All of it is checked first: no call starts with a damaged document. */
export async function fileOf(
  documents: DocumentStore,
  { name, document }: { name: string; document: DocumentReference },
  path = name,
): Promise<NamedFile> {
  await checkDocument(documents, document, path);
  const { mediaType, size } = document;
  return { name, mediaType, size, read: () => documents.openRead(document) };
}

/** The document's bytes, for a provider that takes them inside JSON. */
export async function readDocument(
  documents: DocumentStore,
  reference: DocumentReference,
  path: string,
): Promise<Buffer> {
  const bytes = await documents.take(reference, execution()).catch(asInvalidInput(path));
  refuseOtherThanPdf(reference, bytes, path);
  return bytes;
}

/** For a document of any size. A missing document, or one with the type of a PDF that is not a PDF, is an invalid input. */
export async function checkDocument(
  documents: DocumentStore,
  reference: DocumentReference,
  path: string,
): Promise<void> {
  const start = await documents.check(reference, execution()).catch(asInvalidInput(path));
  refuseOtherThanPdf(reference, start, path);
}

function refuseOtherThanPdf({ mediaType }: DocumentReference, start: Buffer, path: string): void {
  if (mediaType === "application/pdf" && !isPdf(start))
    throw new InvalidInput([{ path, problem: "is not a PDF" }]);
}

/** An error of the store that is about the document becomes an invalid input; any other is thrown as it is. */
export function asInvalidInput(path: string): (error: unknown) => never {
  return (error) => {
    const problem = documentProblem(error);
    throw problem === undefined ? error : new InvalidInput([{ path, problem }]);
  };
}

/**
 * For a document that could be read before the first effect. The process must not fail where it cannot be read later, as something
 * exists at the provider by then: an operator restores it and retries.
 */
export async function unlessMissing<P extends Provider, T>(
  { provider }: ProviderContext<P>,
  operation: Operation<P>,
  reading: Promise<T>,
): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const found = error.fields[0]?.problem.replaceAll(" ", "-") ?? "cannot-be-read";
    throw new ProviderError({
      ...{ kind: "protocol", effect: "none", provider, operation },
      problem: "a document of ours cannot be sent",
      code: `our-document-${found}`,
    });
  }
}

/** A file that the provider gave. A download is read from the spool. */
export interface FetchedFile {
  sha256: string;
  pieces(): Pieces;
}

/**
 * Stores such a file; the process owns it first. Its id is made of the provider, `ids` and the content, so that a retry stores no
 * second one, and another version under the same ids has a document of its own.
 */
export async function keepFile<K extends DocumentKind>(
  { provider, deps: { documents, journal }, process: processKey }: ProviderContext<Provider>,
  { kind, ids, mediaType }: { kind: K; ids: readonly string[]; mediaType: string },
  file: FetchedFile,
): Promise<{ kind: K; document: DocumentReference }> {
  const id = derivedDocumentId(provider, ...ids, file.sha256);
  await journal.addOwner(processKey, [{ id, kind }]);
  const document = await documents.putStream(file.pieces(), mediaType, { id, process: processKey });
  return { kind, document };
}

/** Whether a request to delete may have gone out, also in an earlier run, or before a reset, whatever was answered. */
export function wasSent({ attempts, state }: EffectSummary): boolean {
  return attempts > 0 || state === "answered";
}
