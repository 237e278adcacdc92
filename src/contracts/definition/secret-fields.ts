// The fields that a contract marks: secrets (`writeOnly`, docs/reading-the-specification.md §8) and documents. They are replaced where
// an input or an update's argument goes on, and where the digest of an input is made (docs/design.md §2).
import { z } from "zod";
import type { DocumentInput } from "../shared/values.js";

/** An input has one, and so has an update's argument. */
export type Contract = z.ZodType;

interface Schema {
  writeOnly?: boolean;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

interface Changes {
  /** Absent: secrets are left out. */
  secret?(secret: string): string;
  document?(document: DocumentInput): object;
}

/** Returns the value with each secret replaced by `secret`; everything else stays as it is, whatever its shape. */
export function withSecrets(
  contract: z.ZodType,
  value: unknown,
  secret: (secret: string) => string,
): unknown {
  return changed(described(contract), value, { secret });
}

/**
 * Returns the part of an input that its digest covers, which a second start or another run must repeat: without secrets and without
 * `settings`, and with each document replaced by `document`. `providerFields` stays unchanged, whatever the names of its members.
 */
export function comparedInput(
  schema: z.ZodType,
  input: object,
  document: (document: DocumentInput) => object,
): object {
  const { settings: _, ...rest } = changed(described(schema), input, { document }) as Record<
    string,
    unknown
  >;
  return rest;
}

export function secretNames(contract: z.ZodType): string[] {
  const walk = ({ properties = {}, items, anyOf = [] }: Schema): string[] => [
    ...Object.entries(properties).flatMap(([name, property]) =>
      property.writeOnly === true ? [name] : walk(property),
    ),
    ...(items ? walk(items) : []),
    ...anyOf.flatMap(walk),
  ];
  return walk(described(contract));
}

const descriptions = new WeakMap<z.ZodType, Schema>();

/** Each contract is described once: that takes longer than everything else here. */
function described(schema: z.ZodType): Schema {
  const known = descriptions.get(schema);
  if (known) return known;
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
  descriptions.set(schema, json);
  return json;
}

function changed(schema: Schema, value: unknown, changes: Changes): unknown {
  const { secret, document } = changes;
  if (schema.writeOnly === true && secret) return typeof value === "string" ? secret(value) : value;
  if (typeof value !== "object" || value === null) return value;
  // A secret in one of several forms is a secret in all of them.
  const forms = schema.anyOf ?? [schema];
  if (Array.isArray(value)) {
    const items = forms.find((form) => form.items)?.items ?? {};
    return value.map((part) => changed(items, part, changes));
  }
  const properties: Record<string, Schema> = Object.assign(
    {},
    ...forms.map((form) => form.properties),
  );
  const mayBeDocument = "uri" in properties && "base64" in properties;
  if (document && mayBeDocument && isDocument(value)) return document(value);
  const entries = Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
    const property = properties[name] ?? {};
    return property.writeOnly === true && !secret ? [] : [[name, changed(property, part, changes)]];
  });
  return Object.fromEntries(entries);
}

function isDocument(value: object): value is DocumentInput {
  const { sha256, base64 } = value as { sha256?: unknown; base64?: unknown };
  return typeof sha256 === "string" || typeof base64 === "string";
}
