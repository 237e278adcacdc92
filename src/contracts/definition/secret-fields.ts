// Finds the secrets of an input or of an update's argument by the contract's mark `writeOnly`
// (docs/reading-the-specification.md §8).
import type { z } from "zod";
import { described } from "./compared-input.js";
import type { Schema } from "./compared-input.js";

/** Of an input, or of an update's argument. */
export type Contract = z.ZodType;

/** Returns the value with each secret replaced by `change`; everything else stays as it is, whatever its shape. */
export function withSecrets(
  contract: z.ZodType,
  value: unknown,
  change: (secret: string) => string,
): unknown {
  const walk = (schema: Schema, part: unknown): unknown => {
    if (schema.writeOnly === true) return typeof part === "string" ? change(part) : part;
    if (typeof part !== "object" || part === null) return part;
    const forms = schema.anyOf ?? [schema];
    if (Array.isArray(part)) {
      const items = forms.find((form) => form.items)?.items ?? {};
      return part.map((item) => walk(items, item));
    }
    const properties: Record<string, Schema> = Object.assign(
      {},
      ...forms.map((form) => form.properties),
    );
    const entries = Object.entries(part).map(([name, own]: [string, unknown]) => [
      name,
      walk(properties[name] ?? {}, own),
    ]);
    return Object.fromEntries(entries) as unknown;
  };
  return walk(described(contract), value);
}

/** The names of all secrets of a contract. */
export function secretNames(contract: z.ZodType): string[] {
  const walk = ({ properties = {}, items, anyOf = [] }: Schema): string[] => [
    ...Object.entries(properties).flatMap(([name, own]) =>
      own.writeOnly === true ? [name] : walk(own),
    ),
    ...(items ? walk(items) : []),
    ...anyOf.flatMap(walk),
  ];
  return walk(described(contract));
}
