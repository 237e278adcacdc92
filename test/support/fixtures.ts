// The fixtures transcribed from the specification: loading, filling and matching. test/fixtures/evi-post/README.md
// defines the shapes and the placeholders `{{type}}`, `{{type?}}` and `{{type:name}}`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pattern, pdfBytes, readPlaceholder, types } from "./placeholders.js";
import type { Placeholder } from "./placeholders.js";

export { samplePdf } from "./placeholders.js";

export interface Fixture {
  file: string;
  section: string;
  title: string;
  [member: string]: any;
}

/** Values by placeholder name; what is not given here gets a sample that depends on the name alone. */
export type Values = Record<string, unknown>;

export interface MatchOptions {
  /** Objects may have members that the expectation does not name. */
  extra?: boolean;
  /** Known values by name; the names met on the way are added. */
  values?: Values;
}

/** Every fixture of a folder, by file name. */
export function loadFixtures(directory: string): Fixture[] {
  const files = readdirSync(directory).filter((file) => file.endsWith(".json"));
  return files
    .toSorted()
    .map((file) => ({ ...JSON.parse(readFileSync(join(directory, file), "utf8")), file }));
}

/** Every placeholder replaced by its value, else by a sample; the names met on the way are added to `values`. */
export function fill<T>(template: T, values: Values = {}): T {
  return walk(template, values) as T;
}

/** The differences between an expectation with placeholders and what came, each with its path; none when it matches. */
export function matches(expected: unknown, actual: unknown, options: MatchOptions = {}): string[] {
  const differences: string[] = [];
  compare(expected, actual, "$", { extra: false, values: {}, ...options }, differences);
  return differences;
}

function walk(template: unknown, values: Values): unknown {
  if (typeof template === "string") return fillText(template, values);
  if (Array.isArray(template)) return template.map((element) => walk(element, values));
  if (!isObject(template)) return template;
  const entries = Object.entries(template).map(([key, value]) => [
    fillText(key, values),
    walk(value, values),
  ]);
  return Object.fromEntries(entries);
}

function fillText(text: string, values: Values): unknown {
  const found = [...text.matchAll(pattern)];
  if (found.length === 1 && found[0]?.[0] === text)
    return valueOf(readPlaceholder(found[0]), values);
  let filled = text;
  for (const match of found) {
    filled = filled.replace(match[0], () => valueOf(readPlaceholder(match), values) as string);
  }
  return filled;
}

function valueOf({ type, name }: Placeholder, values: Values): unknown {
  const key = name ?? type;
  const value = values[key] === undefined ? types[type]?.sample(key) : values[key];
  if (name !== undefined) values[name] = value;
  return value;
}

function compare(
  expected: unknown,
  actual: unknown,
  path: string,
  options: Required<MatchOptions>,
  out: string[],
): void {
  if (typeof expected === "string") return compareText(expected, actual, path, options, out);
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual))
      return void out.push(`${path}: expected an array, got ${show(actual)}`);
    if (actual.length !== expected.length)
      out.push(`${path}: expected ${expected.length} elements, got ${actual.length}`);
    expected.forEach((element, index) =>
      compare(element, actual[index], `${path}[${index}]`, options, out),
    );
    return;
  }
  if (!isObject(expected)) {
    if (!isDeepStrictEqual(expected, actual))
      out.push(`${path}: expected ${show(expected)}, got ${show(actual)}`);
    return;
  }
  if (!isObject(actual)) return void out.push(`${path}: expected an object, got ${show(actual)}`);
  for (const [key, value] of Object.entries(expected))
    compare(value, actual[key], `${path}.${key}`, options, out);
  if (options.extra) return;
  for (const [key, value] of Object.entries(actual)) {
    if (value !== undefined && !(key in expected))
      out.push(`${path}.${key}: unexpected ${show(value)}`);
  }
}

function compareText(
  expected: string,
  actual: unknown,
  path: string,
  { values }: Required<MatchOptions>,
  out: string[],
): void {
  const found = [...expected.matchAll(pattern)];
  const different = () => void out.push(`${path}: expected ${expected}, got ${show(actual)}`);
  if (found.length === 0) {
    if (expected !== actual) different();
  } else if (found.length === 1 && found[0]?.[0] === expected) {
    const placeholder = readPlaceholder(found[0]);
    if (placeholder.optional && (actual === undefined || actual === null)) return;
    if (!types[placeholder.type]?.accepts(actual) || !agrees(placeholder, actual, values))
      different();
  } else if (typeof actual !== "string") {
    different();
  } else {
    const parts = expected
      .split(/\{\{[^}]+\}\}/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const placeholders = found.map(readPlaceholder);
    const source = parts.map(
      (part, index) =>
        part + (index < placeholders.length ? `(${types[placeholders[index]!.type]!.inText})` : ""),
    );
    const match = new RegExp(`^${source.join("")}$`).exec(actual);
    if (
      !match ||
      !placeholders.every((placeholder, index) => agrees(placeholder, match[index + 1], values))
    )
      different();
  }
}

/** One name stands for one value; instants are compared as instants. */
function agrees({ type, name }: Placeholder, actual: unknown, values: Values): boolean {
  if (name === undefined) return true;
  const known = values[name];
  if (known === undefined) values[name] = actual;
  else if (type === "datetime") return Date.parse(known as string) === Date.parse(actual as string);
  else if (type === "pdf")
    return pdfBytes(known)?.equals(pdfBytes(actual) ?? Buffer.alloc(0)) ?? false;
  return known === undefined || known === actual;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array)
  );
}

function show(value: unknown): string {
  return value instanceof Uint8Array
    ? `${value.length} bytes`
    : (JSON.stringify(value) ?? "nothing");
}
