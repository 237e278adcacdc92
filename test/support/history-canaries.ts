// Canaries: a unique text in every personal field, document and secret, and the search for them in whatever was written,
// in clear and in the usual encodings.
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { SendPostalInput } from "../../src/client.js";
import { SendPostalInput as SendPostalSchema } from "../../src/contracts/send-postal.js";
import { pdf } from "../../src/sandbox/pdf.js";
import type { Author } from "./history-walk.js";
import { letterInput } from "./letters.js";

interface JsonSchema {
  type?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
}

/** Letters only, so that a canary fits wherever a word does. */
function letters(count: number): string {
  return [...randomBytes(count)].map((byte) => String.fromCharCode(97 + (byte % 26))).join("");
}

export class Canaries {
  /** Stands in each canary, so that one search finds any. */
  readonly mark = letters(14);
  readonly #names = new Map<string, string>();

  /** The canary of this name; the same one each time. */
  of(name: string): string {
    const known = this.#names.get(name);
    if (known) return known;
    const number = this.#names.size;
    const tail = String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26));
    const canary = `${this.mark}${tail}`;
    this.#names.set(name, canary);
    return canary;
  }

  get all(): ReadonlyMap<string, string> {
    return this.#names;
  }

  /** One in every text that a contract leaves free; the rest is for the caller. */
  within(schema: z.ZodType): Record<string, unknown> {
    const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
    return this.#fill(json, "") as Record<string, unknown>;
  }

  #fill(
    { type, format, pattern, enum: words, properties, items }: JsonSchema,
    path: string,
  ): unknown {
    if (type === "string") {
      const isFree = !words && !pattern && (!format || format === "password");
      return isFree ? this.of(path) : undefined;
    }
    if (type === "array" && items) return [this.#fill(items, `${path}[]`)];
    if (type !== "object" || !properties) return undefined;
    const entries = Object.entries(properties)
      .map(([key, part]): [string, unknown] => [
        key,
        this.#fill(part, path ? `${path}.${key}` : key),
      ])
      .filter(([, value]) => value !== undefined);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
}

/** Writes letters that are full of canaries; the sandbox's words travel in a custom field. */
export function canaryAuthor(canaries: Canaries): Author {
  const intent = (id: string) => `${canaries.of("lookupKey")}-${id}`;
  return {
    intent,
    letter(id, words, more) {
      const plain = letterInput(intent(id), words, more);
      const full = canaries.within(SendPostalSchema) as unknown as SendPostalInput;
      const steered = { key: "sandbox", label: "Sandbox", value: `sandbox:${words}` };
      const bytes = pdf([canaries.of("the document")]);
      return {
        ...full,
        ...more,
        lookupKey: intent(id),
        document: { base64: bytes.toString("base64"), mediaType: "application/pdf" },
        recipientAddress: { ...full.recipientAddress, country: "ES" },
        issuerAddress: { ...full.recipientAddress, ...full.issuerAddress, country: "ES" },
        ...(plain.settings && { settings: plain.settings }),
        options: {
          ...full.options,
          evidenceAccessControlMethod: "Challenge",
          ...more.options,
          customFields: [...(full.options?.customFields ?? []), steered],
        },
      };
    },
    words: (of) => canaries.of(of),
  };
}

/** A text as it may stand in bytes, by the name of the encoding. */
export function formsOf(text: string): [string, Buffer][] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString("hex");
  const percent = hex.replaceAll(/../g, "%$&");
  const written = [
    ["clear", text],
    ["hex", hex],
    ["hex", hex.toUpperCase()],
    ["URL", percent],
    ["URL", percent.toUpperCase()],
    ...[0, 1, 2].flatMap((offset) =>
      (["base64", "base64url"] as const).map((encoding) => [
        "base64",
        inside(bytes, offset)
          .toString(encoding)
          .slice(offset === 0 ? 0 : 4)
          .replace(/=+$/, ""),
      ]),
    ),
  ] as const;
  const unique = new Map(written.map(([name, form]) => [form, name]));
  return [
    ["UTF-16", Buffer.from(text, "utf16le")],
    ...[...unique].map(([form, name]): [string, Buffer] => [name, Buffer.from(form)]),
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
