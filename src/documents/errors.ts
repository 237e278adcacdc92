// What a document's error says to the one who named the document.
import {
  DocumentCorruptError,
  DocumentErasedError,
  DocumentNotFoundError,
} from "../errors/index.js";

/** Says to the caller why a document is unusable; undefined for any other error. */
export function documentProblem(error: unknown): string | undefined {
  if (error instanceof DocumentNotFoundError) return "is not in the document store";
  if (error instanceof DocumentErasedError) return "was erased with its process";
  if (error instanceof DocumentCorruptError) return "is not what its reference says";
  return undefined;
}
