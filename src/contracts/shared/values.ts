// The vocabulary that every contract shares: ids, instants, documents, secrets (docs/design.md §8, §13).
import { z } from "zod";
import { documentSentence } from "./problems.js";
import {
  businessIdPattern,
  businessIdProblem,
  pathIdPattern,
  providerIdPattern,
  tableNamePattern,
} from "./names.js";

/** An opaque id that the caller chooses. URLs, logs and visibility show it, so it must not contain personal data. */
export const BusinessId = z.string().regex(businessIdPattern, businessIdProblem);

/** An id of a provider's that is passed on from one process to another. */
export const ProviderId = z
  .string()
  .regex(providerIdPattern, "must be 1 to 200 visible ASCII characters");
/** One that stands in a path. */
export const PathId = z
  .string()
  .regex(
    pathIdPattern,
    "must be 1 to 200 of A-Z a-z 0-9 . _ ~ ! $ & ' ( ) * + , ; = : @ - and not begin with a dot",
  );

/** RFC 3339, UTC. */
export const Instant = z.iso.datetime();
/** One that a process waits for. With its deadline it is a search attribute, and Elasticsearch keeps none after 2262. */
export const ComingInstant = Instant.refine((at) => at < "2200", "must be before the year 2200");

export const CountryCode = z.string().regex(/^[A-Z]{2}$/, "must be an ISO 3166-1 alpha-2 code");

/** As wide as the address of a notice: the specification shows no form. A comma parts several (P1 §4.2). */
export const EmailAddress = z
  .string()
  .regex(/^[^\s@;,]+@[^\s@;,]+\.[^\s@;,]+$/, "must be an e-mail address")
  .meta({ format: "email" });

export const AccountName = z
  .string()
  .regex(tableNamePattern, "must be 1 to 31 of a-z, 0-9 and -, the first not -")
  .describe(
    "The configured account whose credentials the calls use: a name below `accounts` in the configuration. Default: `default`.",
  );

/** For a list whose length the specification does not limit: this limit is ours, and its error says so. */
export const ownLimit = (most: number) =>
  [most, `must have at most ${most} entries: a limit of Trustflow, not of the provider`] as const;

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in lower-case hex");

const MediaType = z
  .string()
  .min(1)
  .describe("The media type of the content, such as `application/pdf` or `text/csv`.");

export const DocumentReference = z
  .strictObject({
    uri: z
      .string()
      .regex(/^document:[0-9a-f]{32}$/, "must be document:<32 hex digits>")
      .describe("The name in the document store, as the store returns it."),
    sha256: Sha256.describe("The SHA-256 of the plaintext, in lower-case hex."),
    size: z.int().positive().describe("The size of the plaintext, in bytes."),
    mediaType: MediaType,
  })
  .describe("A document in Trustflow's document store.");
export type DocumentReference = z.infer<typeof DocumentReference>;

/** The largest inline document, in base64 characters. */
export const INLINE_DOCUMENT_LIMIT = 1_000_000;

export const InlineDocument = z
  .strictObject({
    base64: z
      .base64()
      .min(1)
      .max(INLINE_DOCUMENT_LIMIT, "is over 1 MB: store it in the document store first")
      .describe("The content in base64, at most 1,000,000 characters."),
    mediaType: MediaType,
  })
  .describe("A document in the input itself.");
export type InlineDocument = z.infer<typeof InlineDocument>;

/** A page with one line of text, for examples. */
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 39>>stream
BT /F 16 Tf 72 770 Td (An example) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF
`;

export const DocumentInput = z
  .union([DocumentReference, InlineDocument], { error: ({ input }) => documentSentence(input) })
  .describe(
    'A stored document, or one inline up to 1 MB. The command line also takes a file: `{ "path": "letter.pdf" }`.',
  )
  .meta({ examples: [{ base64: btoa(PDF), mediaType: "application/pdf" }] });
export type DocumentInput = z.infer<typeof DocumentInput>;

export const FileName = z
  .string()
  .regex(/^[^/\\\p{Cc}]{1,200}$/u, "must be a file name of at most 200 characters");

/** Fields that the specification does not show; they are passed to the provider unchanged (docs/design.md §13). */
export const ProviderFields = z
  .record(z.string(), z.unknown())
  .describe(
    "Members that the specification does not show, in the provider's spelling. They are passed on unchanged.",
  );

/** A plain string on the wire that is never shown, logged or stored in clear; `writeOnly` marks it in the JSON Schema. */
export const SecretString = z.string().min(1).meta({ writeOnly: true, format: "password" });

/** A value that prints as `[secret]` wherever it is printed by mistake. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "[secret]";
  }
}

/** Whether two names or words differ in case, `_`, `-` and blanks alone. */
export function isSameSpelling(one: string, other: string): boolean {
  return plainSpelling(one) === plainSpelling(other);
}

/** A name or word without what `isSameSpelling` leaves out. */
export function plainSpelling(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/g, "");
}
