// How a person's decision is signed: Ed25519 (RFC 8032) over the canonical JSON (RFC 8785) of all that the decision is about, so
// that a signature is worth nothing for another process, attention, decision or moment.
import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { canonicalJson } from "./json-digest.js";
import { privateKeyOf, publicKeyOf, rawOf } from "./raw-keys.js";

/** The first member of what is signed: no other signature of such a key can be taken for one of a decision. */
const purpose = "trustflow.decision.1";

export interface SignedDecision {
  namespace: string;
  workflowId: string;
  /** The update's name and id. */
  update: string;
  updateId: string;
  operator: string;
  /** When it was signed, in RFC 3339. */
  at: string;
  /** The update's argument without its signature. */
  argument: object;
}

export function signedBytes(decision: SignedDecision): Buffer {
  // As it travels: members without a value do not.
  const argument = JSON.parse(JSON.stringify(decision.argument)) as object;
  return Buffer.from(canonicalJson({ ...decision, argument, purpose }));
}

/** In base64. */
export function signDecision(privateKey: Buffer, decision: SignedDecision): string {
  return sign(null, signedBytes(decision), privateKeyOf("ed25519", privateKey)).toString("base64");
}

export function isSignatureOf(
  publicKey: Buffer,
  decision: SignedDecision,
  signature: string,
): boolean {
  const bytes = Buffer.from(signature, "base64");
  return verify(null, signedBytes(decision), publicKeyOf("ed25519", publicKey), bytes);
}

/** A fresh pair, each key as base64 of its 32 bytes. */
export function generateOperatorKey(): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privateKey: rawOf(privateKey).toString("base64"),
    publicKey: rawOf(publicKey).toString("base64"),
  };
}

/** The result is in base64. */
export function operatorPublicKey(privateKey: Buffer): string {
  return rawOf(createPublicKey(privateKeyOf("ed25519", privateKey))).toString("base64");
}
