// A callback address is a capability: `<key id>.<subject, base64url>.<HMAC-SHA-256>` (DESIGN §7). Its subject is a process, or
// an account, for a source that is configured once for each account (READING §6). Nothing about it is stored; whoever knows the
// address may report, and nobody can make one without the key.
import { createHash } from "node:crypto";
import { keyedDigest, verifyKeyedDigest } from "../crypto/hmac.js";
import type { KeyRing } from "../crypto/key-ring.js";

export interface ProcessSubject {
  /** Selects the parser. */
  provider: string;
  namespace: string;
  workflowId: string;
}

/** Which process is meant, a reference in the body says (addressing.ts). */
export interface AccountSubject {
  provider: string;
  account: string;
}

export type Subject = ProcessSubject | AccountSubject;

export const callbackPath = "/callbacks/";
const ADDRESS_LABEL = "callback-address";
const CORRELATION_LABEL = "callback-correlation";

export function callbackUrl(ring: KeyRing, publicUrl: string, subject: Subject): string {
  const text = encode(subject);
  const digest = keyedDigest(ring, ADDRESS_LABEL, text);
  const dot = digest.indexOf(".");
  const segment = `${digest.slice(0, dot)}.${Buffer.from(text).toString("base64url")}${digest.slice(dot)}`;
  return publicUrl.replace(/\/+$/, "") + callbackPath + segment;
}

/** The subject of a genuine address, and the name under which its events are unique; undefined for any other. */
export function readAddress(
  ring: KeyRing,
  segment: string,
): { subject: Subject; address: string } | undefined {
  const [keyId, encoded, mac, ...more] = segment.split(".");
  if (keyId === undefined || encoded === undefined || mac === undefined || more.length > 0)
    return undefined;
  const text = Buffer.from(encoded, "base64url").toString();
  // One spelling of an address only, so that nothing depends on how lenient a decoder is.
  if (Buffer.from(text).toString("base64url") !== encoded) return undefined;
  if (!verifyKeyedDigest(ring, ADDRESS_LABEL, text, `${keyId}.${mac}`)) return undefined;
  const subject = decode(text);
  return subject && { subject, address: createHash("sha256").update(text).digest("hex") };
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

function decode(text: string): Subject | undefined {
  const process = /^p:([^:]+):([^/]+)\/(.+)$/s.exec(text);
  if (process) {
    const [, provider = "", namespace = "", workflowId = ""] = process;
    return { provider, namespace, workflowId };
  }
  const [, provider, account] = /^s:([^:/]+)\/([^:/]+)$/.exec(text) ?? [];
  return provider === undefined || account === undefined ? undefined : { provider, account };
}
