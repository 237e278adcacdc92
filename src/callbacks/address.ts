// A callback address is a capability: `<key id>.<subject, base64url>.<HMAC-SHA-256>` (docs/design.md §7). Its subject is a
// process, or an account for a provider that is configured once per account (docs/reading-the-specification.md §6). Anyone
// who has the address can report; only a holder of the key can create one. The address of a process contains its time of
// issue, in months of 30 days, and expires. The address of an account does not expire, because a person has configured it at
// the provider.
import { createHash } from "node:crypto";
import { keyedDigest, verifyKeyedDigest } from "../crypto/hmac.js";
import type { KeyRing } from "../crypto/key-ring.js";

export interface ProcessSubject {
  /** Selects the parser. */
  provider: string;
  namespace: string;
  workflowId: string;
}

/** A reference in the body names the process (addressing.ts). */
export interface AccountSubject {
  provider: string;
  account: string;
}

export type Subject = ProcessSubject | AccountSubject;

export const callbackPath = "/callbacks/";
const MONTH_MS = 30 * 86_400_000;
const ADDRESS_LABEL = "callback-address";
const CORRELATION_LABEL = "callback-correlation";

export function callbackUrl(
  ring: KeyRing,
  publicUrl: string,
  subject: Subject,
  { issuedAt = new Date(), rows }: { issuedAt?: Date; rows?: number | undefined } = {},
): string {
  const month = Math.floor(issuedAt.getTime() / MONTH_MS);
  const allowed = rows === undefined ? "" : `r${rows}:`;
  const text = "account" in subject ? encode(subject) : `d:${month}:${allowed}${encode(subject)}`;
  const digest = keyedDigest(ring, ADDRESS_LABEL, text);
  const dot = digest.indexOf(".");
  const segment = `${digest.slice(0, dot)}.${Buffer.from(text).toString("base64url")}${digest.slice(dot)}`;
  return publicUrl.replace(/\/+$/, "") + callbackPath + segment;
}

export interface GenuineAddress {
  subject: Subject;
  /** The key under which events are unique: the same for every address of a process, whenever it was issued. */
  address: string;
  /** The address was issued before this time; an account's address has none. */
  issuedBefore?: Date;
  /** How many callbacks the address may bring, if it says so itself: that of a batch, whose notices report to it. */
  rows?: number;
}

/** Undefined if the address is not genuine. */
export function readAddress(ring: KeyRing, segment: string): GenuineAddress | undefined {
  const [keyId, encoded, mac, ...more] = segment.split(".");
  if (keyId === undefined || encoded === undefined || mac === undefined || more.length > 0)
    return undefined;
  const text = Buffer.from(encoded, "base64url").toString();
  // An address has exactly one spelling, so that nothing depends on a lenient decoder.
  if (Buffer.from(text).toString("base64url") !== encoded) return undefined;
  if (!verifyKeyedDigest(ring, ADDRESS_LABEL, text, `${keyId}.${mac}`)) return undefined;
  const [, month, rows, ofProcess] = /^d:(\d{1,5}):(?:r(\d{1,9}):)?(p:.*)$/s.exec(text) ?? [];
  const subject = ofProcess === undefined ? decodeAccount(text) : decodeProcess(ofProcess);
  return (
    subject && {
      subject,
      address: addressOf(subject),
      ...(month === undefined ? {} : { issuedBefore: new Date((Number(month) + 1) * MONTH_MS) }),
      ...(rows === undefined ? {} : { rows: Number(rows) }),
    }
  );
}

/** How many genuine addresses a reader remembers. */
const REMEMBERED = 256;

/** Reads addresses, and remembers the newest genuine ones: all notices of a batch report to one address. */
export class AddressReader {
  readonly #ring: KeyRing;
  readonly #genuine = new Map<string, GenuineAddress>();

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  read(segment: string): GenuineAddress | undefined {
    const known = this.#genuine.get(segment);
    if (known) return known;
    const address = readAddress(this.#ring, segment);
    if (address) this.#remember(segment, address);
    return address;
  }

  #remember(segment: string, address: GenuineAddress): void {
    const [oldest] = this.#genuine.keys();
    if (this.#genuine.size >= REMEMBERED && oldest !== undefined) this.#genuine.delete(oldest);
    this.#genuine.set(segment, address);
  }
}

export function addressOf(subject: Subject): string {
  return createHash("sha256").update(encode(subject)).digest("hex");
}

/** The value that a process's events carry beside the address: a consistency check, not a proof (P2 §5.6). */
export function correlationOf(ring: KeyRing, subject: ProcessSubject): string {
  return keyedDigest(ring, CORRELATION_LABEL, encode(subject));
}

export function correlationMatches(ring: KeyRing, subject: ProcessSubject, value: string): boolean {
  return verifyKeyedDigest(ring, CORRELATION_LABEL, encode(subject), value);
}

function encode(subject: Subject): string {
  if ("account" in subject) return `s:${subject.provider}/${subject.account}`;
  return `p:${subject.provider}:${subject.namespace}/${subject.workflowId}`;
}

function decodeProcess(text: string): ProcessSubject | undefined {
  const [found, provider = "", namespace = "", workflowId = ""] =
    /^p:([^:]+):([^/]+)\/(.+)$/s.exec(text) ?? [];
  return found === undefined ? undefined : { provider, namespace, workflowId };
}

function decodeAccount(text: string): AccountSubject | undefined {
  const [, provider, account] = /^s:([^:/]+)\/([^:/]+)$/.exec(text) ?? [];
  return provider === undefined || account === undefined ? undefined : { provider, account };
}
