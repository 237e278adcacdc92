// Which parts of an input are secrets (READING §8): the contract says so itself, by `writeOnly`.
import { z } from "zod";

interface Schema {
  writeOnly?: boolean;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
}

/** The input without its secrets and without `settings`: what a second start must bring again (DESIGN §2). */
export function withoutSecrets(schema: z.ZodType, input: object): object {
  const { settings: _, ...rest } = stripped(described(schema), input) as Record<string, unknown>;
  return rest;
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

/** What is a secret in one of several forms is one in all of them. */
function stripped(described: Schema, value: object): object {
  const forms = described.anyOf ?? [described];
  const properties = Object.assign({}, ...forms.map((form) => form.properties)) as Record<
    string,
    Schema
  >;
  const entries = Object.entries(value).flatMap(([key, part]: [string, unknown]) => {
    const schema = properties[key] ?? {};
    if (schema.writeOnly === true) return [];
    const nested = typeof part === "object" && part !== null && !Array.isArray(part);
    return [[key, nested ? stripped(schema, part) : part]];
  });
  return Object.fromEntries(entries) as object;
}
