// Refuses, before a process exists, what the contract lets through: an input that is too large for Temporal, and a stored document
// that is no PDF, or not there. Says by their paths, never their values, in which members two inputs differ.
import { DocumentInput } from "../contracts/shared/values.js";
import type { DocumentReference } from "../contracts/shared/values.js";
import { documentProblem } from "../documents/store.js";
import { isPdf } from "../documents/content.js";
import type { DocumentStore } from "../documents/store.js";
import { wrongArgument } from "../errors/arguments.js";

/** Temporal takes 2 MB; encrypted, and with what stands around it, an input grows a little. */
const INPUT_LIMIT = 1_500_000;

export function refuseOversize(input: object): void {
  if (Buffer.byteLength(JSON.stringify(input)) <= INPUT_LIMIT) return;
  throw wrongArgument("(input)", "is over 1.5 MB as JSON");
}

/** Throws in the words of the first activity, which looks again. */
export async function refuseUnreadable(
  documents: Pick<DocumentStore, "openRead">,
  reference: DocumentReference,
  path: string,
): Promise<void> {
  const refuse = (problem: string) => wrongArgument(path, problem);
  let start: Buffer | undefined;
  try {
    for await (const piece of documents.openRead(reference)) start ??= piece;
  } catch (error) {
    const problem = documentProblem(error);
    throw problem === undefined ? error : refuse(problem);
  }
  if (reference.mediaType === "application/pdf" && !(start && isPdf(start)))
    throw refuse("is not a PDF (P2 §2.1)");
}

/** The input with each document as `replace` gives it. */
export function withDocuments(
  input: object,
  replace: (document: DocumentInput, path: string) => Promise<DocumentInput>,
): Promise<unknown> {
  return withParts(input, async (part, path) => {
    const document = DocumentInput.safeParse(part);
    return document.success ? replace(document.data, path.join(".")) : undefined;
  });
}

/** The input with each object as `replace` gives it, undefined to look inside; what is the provider's alone stays as it is. */
export async function withParts(
  value: unknown,
  replace: (part: object, path: string[]) => Promise<object | undefined>,
  path: string[] = [],
): Promise<unknown> {
  if (typeof value !== "object" || value === null) return value;
  const replaced = await replace(value, path);
  if (replaced) return replaced;
  const parts: [string, unknown][] = [];
  for (const [key, part] of Object.entries(value) as [string, unknown][]) {
    parts.push([key, !isFree(key) ? await withParts(part, replace, [...path, key]) : part]);
  }
  return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

const free = new Set(["providerFields", "deliveryAppearance"]);

/** Whether the members of this member are named by the caller, and pass unchanged: a name may be personal data. */
const isFree = (name: string): boolean => free.has(name);

/** Each path at which one has another value than the other, or none. A document and a free record are one member, whatever differs in them. */
export function differences(one: unknown, other: unknown, path: string[] = []): string[] {
  if (isTree(one) && isTree(other) && Array.isArray(one) === Array.isArray(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) => {
      const found = differences(one[name], other[name], [...path, name]);
      return isFree(name) && found.length > 0 ? [[...path, name].join(".")] : found;
    });
  }
  return Object.is(one, other) ? [] : [path.join(".") || "(input)"];
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
