// What a contract found wrong, as fields with their paths: the one translation for client, command line and activities.
import type { FieldProblem } from "./failures.js";

interface Issue {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  errors?: Issue[][];
}

/** `under` stands before each path. Empty where nothing is wrong. */
export function fieldProblems(
  error: { issues: object[] } | undefined,
  under: string[] = [],
): FieldProblem[] {
  return ((error?.issues ?? []) as Issue[]).flatMap((issue) => problemsOf(issue, under));
}

function problemsOf(issue: Issue, above: PropertyKey[]): FieldProblem[] {
  const { code, path, message, keys, errors = [] } = issue;
  const here = [...above, ...path];
  if (code === "unrecognized_keys" && keys) {
    return keys.map((key) => ({ path: [...here, key].join("."), problem: "is not known" }));
  }
  // Of several forms, the one that the input comes closest to: what it has tells more of it than what it lacks.
  const [closest] = errors.toSorted(
    (one, other) => unknownIn(one) - unknownIn(other) || one.length - other.length,
  );
  if (closest && closest.length > 0) return closest.flatMap((nested) => problemsOf(nested, here));
  return [{ path: here.join(".") || "(input)", problem: message }];
}

function unknownIn(issues: readonly Issue[]): number {
  return issues.reduce((count, { keys = [] }) => count + keys.length, 0);
}
