// Documents that a batch makes, each stored once: a retry may make another one, since more is known by then.
import type { DocumentReference } from "../../contracts/shared/values.js";
import { uriOf } from "../../documents/document-id.js";
import type { Pieces } from "../../documents/store.js";
import type { BatchContext, MadeDocument } from "./context.js";

/** The document as it is stored, else as `make` makes it. */
export async function storeOnce(
  context: BatchContext,
  made: MadeDocument,
  mediaType: string,
  make: () => Pieces,
): Promise<DocumentReference> {
  const { documents } = context.deps;
  const own = await context.ownDocument(made);
  const uri = uriOf(own.id);
  const pieces = (await documents.exists(uri)) ? documents.openRead({ uri }) : make();
  return documents.putStream(pieces, mediaType, own);
}
