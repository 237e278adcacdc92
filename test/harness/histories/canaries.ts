// Canaries: a unique text in every personal field, document and secret, and the search for them in whatever was written,
// in clear and in the usual encodings.
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { Author } from "./path-run.js";

export interface JsonSchema {
  type?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

/** Letters only, so that a canary fits wherever a word does. */
function letters(count: number): string {
  return [...randomBytes(count)].map((byte) => String.fromCharCode(97 + (byte % 26))).join("");
}

const digits = (count: number) => [...randomBytes(count)].map((byte) => 1 + (byte % 9)).join("");
const phoneNumber = "^\\+[1-9]\\d{1,14}$";

export class Canaries implements Author {
  /** Stands in each canary that is a word, so that one search finds any. */
  readonly mark = letters(14);
  readonly #all = new Map<string, string>();
  readonly #secrets = new Map<string, Set<string>>();

  /** The canary of this name; the same one each time. */
  words(name: string): string {
    return this.#made(name, (number) => {
      const tail = String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26));
      return `${this.mark}${tail}`;
    });
  }

  intent(name: string): string {
    return `${this.words("intent")}-${name}`;
  }

  secret(of: string, text: string): string {
    const known = this.#secrets.get(of) ?? new Set();
    this.#secrets.set(of, known.add(text));
    return text;
  }

  get all(): ReadonlyMap<string, string> {
    return this.#all;
  }

  /** By their names. */
  get secrets(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#secrets;
  }

  /** What to look for to find any: the mark, and what could not hold it. A code of six digits stands anywhere by chance. */
  get texts(): string[] {
    const secrets = ["deviceCode", "callToken", "offer"].flatMap((of) => [
      ...(this.#secrets.get(of) ?? []),
    ]);
    const others = [...this.#all.values(), ...secrets];
    return [this.mark, ...others.filter((text) => !text.includes(this.mark))];
  }

  /** One in every text that the contract leaves free, given or left out; what steers the sandbox stays. */
  write<I extends object>(schema: z.ZodType, input: I, kept: readonly string[]): I {
    const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
    return this.#written(json, input, "", new Set(kept)) as I;
  }

  #written(schema: JsonSchema, value: unknown, path: string, kept: Set<string>): unknown {
    const form = formOf(schema, value);
    if (kept.has(path)) return value;
    if (typeof value === "string" || (value === undefined && form.type === "string"))
      return this.#text(form, value, path);
    if (Array.isArray(value)) {
      const items = value.map((item: unknown) =>
        this.#written(form.items ?? {}, item, `${path}[]`, kept),
      );
      return items;
    }
    if (typeof value !== "object" || value === null) return value;
    const given = value as Record<string, unknown>;
    const names = new Set([...Object.keys(given), ...Object.keys(form.properties ?? {})]);
    const entries = [...names].map((name): [string, unknown] => {
      const below = path === "" ? name : `${path}.${name}`;
      return [name, this.#written(form.properties?.[name] ?? {}, given[name], below, kept)];
    });
    return Object.fromEntries(entries.filter(([, part]) => part !== undefined));
  }

  #text({ format, pattern, enum: words, const: only }: JsonSchema, value: unknown, path: string) {
    const given = typeof value === "string" ? value : undefined;
    if (format === "password") return this.secret(path, this.words(path));
    if (given?.startsWith("sandbox:") || given?.includes(this.mark)) return given;
    if (format === "email") return `${this.words(path)}@canary.example`;
    if (format === "date")
      return this.#made(path, () => `19${10 + Number(digits(1))}-0${digits(1)}-1${digits(1)}`);
    if (pattern === phoneNumber) return `+${this.#made(path, () => digits(14))}`;
    if (words || pattern || format || only !== undefined) return given;
    return given?.includes("$OTP$") ? `${this.words(path)} $OTP$` : this.words(path);
  }

  #made(name: string, make: (number: number) => string): string {
    const known = this.#all.get(name) ?? make(this.#all.size);
    this.#all.set(name, known);
    return known;
  }
}

/** Of several forms the one that has all that the value has. */
function formOf(schema: JsonSchema, value: unknown): JsonSchema {
  if (!schema.anyOf || typeof value !== "object" || value === null) return schema;
  const fits = ({ properties = {} }: JsonSchema) =>
    Object.keys(value).every((key) => Object.hasOwn(properties, key));
  return schema.anyOf.find(fits) ?? schema;
}

/** A text as it may stand in bytes, by the name of the encoding. */
export function formsOf(text: string): [string, Buffer][] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString("hex");
  const percent = hex.replaceAll(/../g, "%$&");
  const base64 = (["base64", "base64url"] as const).flatMap((encoding) =>
    [0, 1, 2].map((before) =>
      inside(bytes, before)
        .toString(encoding)
        .slice(before && 4),
    ),
  );
  const written: [string, string[]][] = [
    ["clear", [text]],
    ["hex", [hex, hex.toUpperCase()]],
    ["URL", [percent, percent.toUpperCase()]],
    ["base64", base64.map((form) => form.replace(/=+$/, ""))],
  ];
  return [
    ["UTF-16", Buffer.from(text, "utf16le")],
    ...written.flatMap(([name, forms]) =>
      [...new Set(forms)].map((form): [string, Buffer] => [name, Buffer.from(form)]),
    ),
  ];
}

/** The part of the text that whole base64 groups stand for, where so many bytes of a group come before it. */
function inside(bytes: Buffer, before: number): Buffer {
  const padded = Buffer.concat([Buffer.alloc(before), bytes]);
  return padded.subarray(0, padded.length - (padded.length % 3));
}

/** The encodings in which the text stands in the bytes. */
export function found(text: string, bytes: Buffer): string[] {
  const forms = formsOf(text).filter(([, form]) => bytes.includes(form));
  return [...new Set(forms.map(([name]) => name))];
}

/** Looks for thousands of texts in one pass over bytes. */
export class Needles<Label> {
  /** Whether one begins with these two bytes: most places are over with that. */
  readonly #begins = new Uint8Array(1 << 16);
  readonly #byHead = new Map<number, [Label, Buffer][]>();

  /** Each has four bytes at least. */
  constructor(needles: Iterable<[Label, Buffer]>) {
    for (const [label, needle] of needles) {
      const head = needle.readUInt32LE();
      this.#begins[head & 0xffff] = 1;
      this.#byHead.set(head, [...(this.#byHead.get(head) ?? []), [label, needle]]);
    }
  }

  /** Each that stands there, and where it begins. */
  *in(bytes: Buffer): Generator<[Label, number]> {
    for (let at = 0; at + 4 <= bytes.length; at += 1) {
      if (!this.#begins[bytes[at]! | (bytes[at + 1]! << 8)]) continue;
      for (const [label, needle] of this.#byHead.get(bytes.readUInt32LE(at)) ?? [])
        if (bytes.subarray(at, at + needle.length).equals(needle)) yield [label, at];
    }
  }
}
