// Translates errors of a contract into field paths and plain sentences, for client, command line and activities.
import type { z } from "zod";
import type { FieldProblem } from "./failures.js";

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

interface Issue {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  errors?: Issue[][];
  issues?: Issue[];
}

/** Nobody reads more, and an error must stay small. */
const MAX_FIELDS = 50;
const MAX_NAME = 100;

/** Returns the parsed input, or each field that breaks the contract; `under` is put before each path. */
export function checkInput<S extends z.ZodType>(
  contract: S,
  input: unknown,
  under: string[] = [],
): { data: z.output<S>; fields: [] } | { data?: undefined; fields: FieldProblem[] } {
  const { data, error } = contract.safeParse(input, { error: sentenceOf });
  if (!error) return { data, fields: [] };
  const firstOfPath = new Map<string, FieldProblem>();
  for (const problem of (error.issues as Issue[]).flatMap((issue) => problemsOf(issue, under)))
    if (!firstOfPath.has(problem.path)) firstOfPath.set(problem.path, problem);
  const fields = [...firstOfPath.values()];
  const more = fields.splice(MAX_FIELDS).length;
  if (more > 0) fields.push({ path: "(input)", problem: `has ${more} more problems` });
  return { fields };
}

function problemsOf(issue: Issue, above: PropertyKey[]): FieldProblem[] {
  const { code, path, message, keys, errors = [] } = issue;
  const here = [...above, ...path];
  if (notDocuments.has(message)) return [{ path: here.join(".") || "(input)", problem: message }];
  if (code === "unrecognized_keys" && keys) {
    const names = keys.map((key) => (key.length > MAX_NAME ? `${key.slice(0, MAX_NAME)}…` : key));
    return names.map((name) => ({ path: [...here, name].join("."), problem: "is not known" }));
  }
  // With several allowed forms, report the form that fits best: known fields say more than missing ones.
  const [closest] = errors.toSorted(
    (one, other) => unknownIn(one) - unknownIn(other) || one.length - other.length,
  );
  if (closest && closest.length > 0) return closest.flatMap((nested) => problemsOf(nested, here));
  return [{ path: here.join(".") || "(input)", problem: message }];
}

function unknownIn(issues: readonly Issue[]): number {
  return issues.reduce((count, { keys = [] }) => count + keys.length, 0);
}

export const missing = "is required";
const stored =
  "a document is { base64, mediaType }, or what `await trustflow.documents.put` returns";
const notBytes = `must not be bytes: ${stored}`;
const notPath = `must not be a path: ${stored}`;
const notPromise = `must not be a promise: ${stored}`;
const notDocuments = new Set([notBytes, notPath, notPromise]);

/** What an application may give in place of a document. */
export function documentSentence(input: unknown): string | undefined {
  if (input instanceof Promise) return notPromise;
  return typeof input === "object" && input !== null && "path" in input ? notPath : undefined;
}

/** It follows the name of a field, and never repeats a value. The contract's own sentences take precedence. */
export function sentenceOf(issue: RawIssue): string {
  if (issue.input === undefined) return missing;
  if (issue.input === null) return "must not be null";
  if (issue.input instanceof Uint8Array) return notBytes;
  switch (issue.code) {
    case "invalid_type":
      return `must be ${types[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.join(", ")}`;
    case "too_small":
      return sized(issue.origin, "at least", Number(issue.minimum));
    case "too_big":
      return sized(issue.origin, "at most", Number(issue.maximum));
    case "invalid_format":
      return `must be ${formats[issue.format] ?? `in the format ${issue.format}`}`;
    case "invalid_key":
      return `has a name that is not allowed${issue.issues[0] ? `: ${issue.issues[0].message}` : ""}`;
    default:
      return "is not valid";
  }
}

const types: Partial<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};

const formats: Partial<Record<string, string>> = {
  base64: "base64",
  date: "a date, as 2026-01-31",
  datetime: "an instant in UTC, as 2026-01-31T12:00:00Z",
  email: "an e-mail address",
  url: "a URL",
};

function sized(origin: string, limit: "at least" | "at most", count: number): string {
  if (origin === "string" && limit === "at least" && count === 1) return "must not be empty";
  if (origin === "string") return `must have ${limit} ${count} characters`;
  if (origin === "array") return `must have ${limit} ${count} ${count === 1 ? "entry" : "entries"}`;
  return `must be ${limit} ${count}`;
}
