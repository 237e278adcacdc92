// A document that vanishes from the store, and is brought back.
import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { DocumentReference } from "../../../src/contracts/shared/values.js";

/** Answers how to bring it back. */
export async function hideDocument(
  env: Record<string, string>,
  { uri }: Pick<DocumentReference, "uri">,
): Promise<() => Promise<void>> {
  const id = uri.slice("document:".length);
  const path = join(env["TRUSTFLOW_DOCUMENTS__DIRECTORY"] ?? "", id.slice(0, 2), id);
  await rename(path, `${path}.hidden`);
  return () => rename(`${path}.hidden`, path);
}
