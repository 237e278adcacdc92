// A file of the provider, saved in the caller's folder under the provider's id of it.
import { saveDocument } from "../upkeep/saved-document.js";
import type { Pieces, SavedFile } from "../upkeep/saved-document.js";

export type IdentifiedFile = Omit<SavedFile, "uri"> & { id: string };

/** An id of the provider may be any text, and files of other content may have the same one: a regenerated affidavit (P2 §2.12). */
export async function savedAs(folder: string, id: string, pieces: Pieces): Promise<IdentifiedFile> {
  const name = id.replaceAll(/[^\w-]/g, "_").slice(0, 100);
  const { uri: _, ...file } = await saveDocument(folder, name, id, pieces, { keepsBoth: true });
  return { id, ...file };
}

export function ofFile(found: IdentifiedFile | undefined) {
  return found && { file: found.file, sha256: found.sha256 };
}
