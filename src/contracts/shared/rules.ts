// Rules over several fields of an input. zod runs a refinement only if the whole shape is right, so callers would see these
// errors late. Here a rule runs as soon as the fields that it reads are right, and all errors are reported together.
import type { z } from "zod";

/** `path` is dotted. A field with a wrong shape is reported only once. */
export type Refuse = (path: string, problem: string) => void;

export interface Rule<T> {
  /** Dotted paths. If one of them or its parent has the wrong shape, the rule does not run. */
  reads: string[];
  /** `isRight` answers for the paths that a rule finds by itself, such as those of a list. */
  check(input: T, refuse: Refuse, isRight: (path: string) => boolean): void;
}

export function withRules<S extends z.ZodType>(schema: S, rules: Rule<z.output<S>>[]): S {
  return schema.superRefine(
    (input, context) => {
      const wrong = new Set(
        context.issues
          .filter(({ code }) => code !== "unrecognized_keys")
          .map(({ path = [] }) => path.join(".")),
      );
      const isRight = (path: string) =>
        !wrong.has("") && !withParents(path).some((at) => wrong.has(at));
      const refuse: Refuse = (path, message) => {
        if (isRight(path)) context.addIssue({ code: "custom", path: path.split("."), message });
      };
      for (const { reads, check } of rules) {
        if (reads.every(isRight)) check(input, refuse, isRight);
      }
    },
    { when: () => true },
  );
}

/** No two files of a list have the same name, in whatever Unicode form. */
export function namesDiffer<L extends string, N extends string>(
  list: L,
  name: N,
  what: string,
): Rule<{ [l in L]?: { [n in N]: string }[] | undefined }> {
  return {
    reads: [list],
    check(input, refuse, isRight) {
      const taken = new Set<string>();
      for (const [index, file] of (input[list] ?? []).entries()) {
        const path = `${list}.${index}.${name}`;
        if (!isRight(path)) continue;
        const form = file[name].normalize();
        if (taken.has(form)) refuse(path, `is already the name of another ${what}`);
        taken.add(form);
      }
    },
  };
}

export const documentNamesDiffer = namesDiffer("documents", "name", "document");

/** `a`, `a.b` and `a.b.c` of `a.b.c`. */
function withParents(path: string): string[] {
  const keys = path.split(".");
  return keys.map((_, index) => keys.slice(0, index + 1).join("."));
}
