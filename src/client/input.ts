// Refuses, before a process exists, what the contract lets through: an input that JSON would change, or that is too large for Temporal,
// and a stored document that is no PDF, or not there. Says by their paths, never their values, in which members two inputs differ.
import { isDate } from "node:util/types";
import { DocumentInput } from "../contracts/shared/values.js";
import type { DocumentReference } from "../contracts/shared/values.js";
import { documentProblem } from "../documents/store.js";
import { isPdf } from "../documents/content.js";
import type { DocumentStore } from "../documents/store.js";
import { wrongArgument } from "../errors/arguments.js";

/** Temporal takes 2 MB; encrypted, and with what stands around it, an input grows a little. */
const INPUT_LIMIT = 1_500_000;

/**
 * Returns the input as it is sent. Throws where JSON would leave a value out or change it; a member that is `undefined` is absent, and a
 * `toJSON` counts.
 */
export function asJson(input: object): object {
  refuseUnlessJson(input);
  return JSON.parse(JSON.stringify(input)) as object;
}

/** `above`: the objects that contain it. */
function refuseUnlessJson(given: unknown, path: string[] = [], above: unknown[] = []): void {
  const value = writtenFor(given, path.at(-1) ?? "");
  const problem = above.includes(value) ? "must not contain itself" : problemOf(value);
  if (problem !== undefined) throw wrongArgument(path.join(".") || "(input)", problem);
  if (typeof value !== "object" || value === null) return;
  const inside = [...above, value];
  if (Array.isArray(value))
    // JSON makes null of what is missing in a list.
    for (const [at, part] of value.entries()) {
      if (part === undefined) throw wrongArgument([...path, at].join("."), "must not be undefined");
      refuseUnlessJson(part, [...path, String(at)], inside);
    }
  else
    for (const [name, part] of Object.entries(value))
      refuseUnlessJson(part, [...path, name], inside);
}

/** As `JSON.stringify` asks for it. Of bytes it would make an object, and null of a Date that is none. */
function writtenFor(value: unknown, name: string): unknown {
  if (ArrayBuffer.isView(value) || isInvalidDate(value)) return value;
  const { toJSON } = Object(value) as { toJSON?: unknown };
  return typeof toJSON === "function" ? (toJSON.call(value, name) as unknown) : value;
}

const isInvalidDate = (value: unknown) => isDate(value) && Number.isNaN(value.getTime());

function problemOf(value: unknown): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) return "must be a finite number";
  if (["bigint", "function", "symbol"].includes(typeof value))
    return `must not be a ${typeof value}: JSON has none`;
  if (ArrayBuffer.isView(value)) return "must not be bytes: give them as base64";
  if (isInvalidDate(value)) return "must be a valid Date";
  if (typeof value === "object" && value !== null && isOpaque(value))
    return "must be a plain object or a list: JSON has no member of this one";
  return undefined;
}

/** A Map, a promise, or an object of a class that shows its values by getters alone. */
function isOpaque(value: object): boolean {
  if (Array.isArray(value) || Object.keys(value).length > 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Another realm has an `Object` of its own.
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

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
