// What is refused before a process exists, beside the contract: what is too large for Temporal, and a stored document that is
// no PDF, or not there.
import { DocumentInput } from "../contracts/values.js";
import type { DocumentReference } from "../contracts/values.js";
import { documentProblem } from "../documents/errors.js";
import { isPdf } from "../documents/pdf.js";
import type { DocumentStore } from "../documents/store.js";
import { InvalidInputError } from "./errors.js";

/** Temporal takes 2 MB; encrypted, and with what stands around it, an input grows a little. */
const INPUT_LIMIT = 1_500_000;

export function refuseOversize(input: object): void {
  if (Buffer.byteLength(JSON.stringify(input)) <= INPUT_LIMIT) return;
  throw new InvalidInputError([{ path: "(input)", problem: "is over 1.5 MB as JSON" }]);
}

/** In the words of the first activity, which looks again. */
export async function refuseUnreadable(
  documents: Pick<DocumentStore, "get">,
  reference: DocumentReference,
  path: string,
): Promise<void> {
  const refuse = (problem: string) => new InvalidInputError([{ path, problem }]);
  const bytes = await documents.get(reference).catch((error: unknown) => {
    const problem = documentProblem(error);
    throw problem === undefined ? error : refuse(problem);
  });
  if (reference.mediaType === "application/pdf" && !isPdf(bytes))
    throw refuse("is not a PDF (P2 §2.1)");
}

/** The input with each document as `replace` gives it; what is the provider's alone is left as it is. */
export async function withDocuments(
  value: unknown,
  replace: (document: DocumentInput, path: string) => Promise<DocumentReference>,
  path: string[] = [],
): Promise<unknown> {
  if (typeof value !== "object" || value === null) return value;
  const document = DocumentInput.safeParse(value);
  if (document.success) return replace(document.data, path.join("."));
  const parts = await Promise.all(
    Object.entries(value).map(async ([key, part]: [string, unknown]) => [
      key,
      key === "providerFields" ? part : await withDocuments(part, replace, [...path, key]),
    ]),
  );
  const all = Object.fromEntries(parts) as Record<string, unknown>;
  return Array.isArray(value) ? Object.values(all) : all;
}
