// The placeholders of the fixtures: how each type is checked, what stands for it, and how it is found inside a longer text.
import { createHash } from "node:crypto";

/** A PDF small enough to read. */
export const samplePdf = Buffer.from(
  "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
);

export interface Placeholder {
  type: string;
  name?: string;
  optional: boolean;
}

/** `{{type}}`, `{{type?}}`, `{{type:name}}`, `{{type?:name}}`. */
export const pattern = /\{\{([a-zA-Z]+)(\?)?(?::([a-zA-Z0-9]+))?\}\}/g;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const datetime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?$/;

export const types: Record<
  string,
  { accepts(value: unknown): boolean; sample(seed: string): unknown; inText: string }
> = {
  uuid: {
    accepts: (value) => typeof value === "string" && uuid.test(value),
    sample: sampleUuid,
    inText: "[0-9a-fA-F-]{36}",
  },
  string: {
    accepts: (value) => typeof value === "string" && value !== "",
    sample: (seed) => `sample-${seed}`,
    inText: ".+?",
  },
  datetime: {
    accepts: (value) => typeof value === "string" && datetime.test(value),
    sample: sampleDatetime,
    inText: "[0-9T:.Z+-]+",
  },
  url: {
    accepts: (value) => typeof value === "string" && URL.canParse(value),
    sample: (seed) => `http://127.0.0.1:9/${seed}`,
    inText: "[^\\s]+",
  },
  integer: { accepts: Number.isInteger, sample: () => 7, inText: "\\d+" },
  pdf: { accepts: isPdf, sample: () => samplePdf.toString("base64"), inText: "[A-Za-z0-9+/=]+" },
  basic: {
    accepts: (value) => typeof value === "string" && /^Basic [A-Za-z0-9+/]+=*$/.test(value),
    sample: () => `Basic ${Buffer.from("trustflow:a password").toString("base64")}`,
    inText: "Basic [A-Za-z0-9+/=]+",
  },
};

export function readPlaceholder(match: RegExpMatchArray): Placeholder {
  const [, word = "", optional, name] = match;
  // {{uniqueId}} is short for {{uuid:uniqueId}}: the id of the communication that the fixture is about.
  const placeholder =
    word === "uniqueId"
      ? { type: "uuid", name: "uniqueId" }
      : { type: word, ...(name && { name }) };
  if (!types[placeholder.type]) throw new Error(`unknown placeholder {{${word}}}`);
  return { ...placeholder, optional: optional === "?" };
}

function isPdf(value: unknown): boolean {
  return pdfBytes(value)?.subarray(0, 5).toString("latin1") === "%PDF-";
}

/** The bytes of a PDF that is given as bytes or in base64. */
export function pdfBytes(value: unknown): Buffer | undefined {
  if (value instanceof Uint8Array) return Buffer.from(value);
  return typeof value === "string" ? Buffer.from(value, "base64") : undefined;
}

function sampleUuid(seed: string): string {
  const hex = createHash("sha256").update(seed).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function sampleDatetime(seed: string): string {
  const seconds = createHash("sha256").update(seed).digest().readUInt16BE(0);
  return new Date(Date.UTC(2026, 2, 2, 9) + seconds * 1000).toISOString();
}
