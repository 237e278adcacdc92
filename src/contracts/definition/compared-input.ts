// The part of an input that its digest covers, which a second start or another run must repeat (docs/design.md §2). The
// contract marks secrets (`writeOnly`, docs/reading-the-specification.md §8) and documents.
import { z } from "zod";
import type { DocumentInput } from "../shared/values.js";

export interface Schema {
  writeOnly?: boolean;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

/**
 * Returns the input without secrets and without `settings`, and with each document replaced by `contentOf`. `providerFields`
 * stays unchanged, whatever the names of its members.
 */
export function comparedInput(schema: z.ZodType, input: object, contentOf: ContentOf): object {
  const { settings: _, ...rest } = compared(described(schema), input, contentOf) as Record<
    string,
    unknown
  >;
  return rest;
}

type ContentOf = (document: DocumentInput) => object;

const descriptions = new WeakMap<z.ZodType, Schema>();

/** Each contract is described once: that takes longer than everything else here. */
export function described(schema: z.ZodType): Schema {
  const known = descriptions.get(schema);
  if (known) return known;
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
  descriptions.set(schema, json);
  return json;
}

function compared(schema: Schema, value: unknown, contentOf: ContentOf): unknown {
  if (typeof value !== "object" || value === null) return value;
  // A secret in one of several forms is a secret in all of them.
  const forms = schema.anyOf ?? [schema];
  if (Array.isArray(value)) {
    const items = forms.find((form) => form.items)?.items ?? {};
    return value.map((part) => compared(items, part, contentOf));
  }
  const properties: Record<string, Schema> = Object.assign(
    {},
    ...forms.map((form) => form.properties),
  );
  const mayBeDocument = "uri" in properties && "base64" in properties;
  if (mayBeDocument && isDocument(value)) return contentOf(value);
  const entries = Object.entries(value).flatMap(([key, part]: [string, unknown]) => {
    const own = properties[key] ?? {};
    return own.writeOnly === true ? [] : [[key, compared(own, part, contentOf)]];
  });
  return Object.fromEntries(entries);
}

function isDocument(value: object): value is DocumentInput {
  const { sha256, base64 } = value as { sha256?: unknown; base64?: unknown };
  return typeof sha256 === "string" || typeof base64 === "string";
}
