// Makes a valid input of a process from the examples in its schema: what is required, and each optional property that has an example.
import { z } from "zod";
import { contractOf } from "./registry.js";
import type { ProcessName } from "./registry.js";

interface Schema {
  description?: string;
  examples?: unknown[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

export function exampleOf(processName: ProcessName): Record<string, unknown> {
  return valueOf(schemaOf(processName)) as Record<string, unknown>;
}

/** The same as JSON with a comment before each property of ours. */
export function commentedExampleOf(processName: ProcessName): string {
  return commented(schemaOf(processName), exampleOf(processName), "");
}

function schemaOf(processName: ProcessName): Schema {
  return z.toJSONSchema(contractOf(processName).input, { io: "input" }) as Schema;
}

function valueOf(schema: Schema): unknown {
  const { examples, const: only, enum: words, properties, required = [], items, anyOf } = schema;
  if (examples) return examples[0];
  if (anyOf?.[0]) return valueOf(anyOf[0]);
  if (items) return [valueOf(items)];
  if (!properties) return only ?? words?.[0] ?? {};
  const shown = Object.entries(properties).filter(
    ([name, property]) => property.examples !== undefined || required.includes(name),
  );
  return Object.fromEntries(shown.map(([name, property]) => [name, valueOf(property)]));
}

function commented(schema: Schema, value: unknown, indent: string): string {
  const form = schema.anyOf?.[0] ?? schema;
  const inner = `${indent}  `;
  if (Array.isArray(value) && form.items) {
    const parts = value.map((part) => inner + commented(form.items ?? {}, part, inner));
    return `[\n${parts.join(",\n")}\n${indent}]`;
  }
  const { properties } = form;
  if (!properties || typeof value !== "object" || value === null) return JSON.stringify(value);
  // A document is shown in its other form.
  if (Object.keys(value).some((name) => !(name in properties))) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, part]) => {
    const property = properties[name] ?? {};
    return `${inner}// ${property.description}\n${inner}"${name}": ${commented(property, part, inner)}`;
  });
  return `{\n${members.join(",\n")}\n${indent}}`;
}
