// The vocabulary that every contract shares: ids, instants, documents, secrets (docs/design.md §8, §13).
import { z } from "zod";
import { businessIdPattern, pathIdPattern, providerIdPattern } from "./names.js";

/** An opaque id that the caller chooses. URLs, logs and visibility show it, so it must not contain personal data. */
export const BusinessId = z
  .string()
  .regex(businessIdPattern, "must be 1 to 100 of A-Z a-z 0-9 . _ -");

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

/** ISO 3166-1 alpha-2. */
export const CountryCode = z.string().regex(/^[A-Z]{2}$/, "must be an ISO 3166-1 alpha-2 code");

export const EmailAddress = z.email();

export const AccountName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,30}$/, "must be a configured account name");

/** For a list whose length the specification does not limit: this limit is ours, and its error says so. */
export const ownLimit = (most: number) =>
  [most, `must have at most ${most} entries: a limit of Trustflow, not of the provider`] as const;

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in lower-case hex");

/** A stored document; `sha256` and `size` (bytes) are those of the plaintext. */
export const DocumentReference = z.strictObject({
  uri: z.string().regex(/^document:[0-9a-f]{32}$/, "must be document:<32 hex digits>"),
  sha256: Sha256,
  size: z.int().positive(),
  mediaType: z.string().min(1),
});
export type DocumentReference = z.infer<typeof DocumentReference>;

/** The largest inline document, in base64 characters. */
export const INLINE_DOCUMENT_LIMIT = 1_000_000;

export const InlineDocument = z.strictObject({
  base64: z
    .base64()
    .min(1)
    .max(INLINE_DOCUMENT_LIMIT, "is over 1 MB: store it in the document store first"),
  mediaType: z.string().min(1),
});
export type InlineDocument = z.infer<typeof InlineDocument>;

export const DocumentInput = z.union([DocumentReference, InlineDocument]);
export type DocumentInput = z.infer<typeof DocumentInput>;

export const FileName = z
  .string()
  .regex(/^[^/\\\p{Cc}]{1,200}$/u, "must be a file name of at most 200 characters");

/** Fields that the specification does not show; they are passed to the provider unchanged (docs/design.md §13). */
export const ProviderFields = z.record(z.string(), z.unknown());

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
