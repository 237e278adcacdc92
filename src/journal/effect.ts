// An activity gives the journal the effect, the handlers for its one call, and its idempotency token.
import { v5 } from "uuid";
import type { Sealer } from "../crypto/data-key.js";
import type { OwnedDocument } from "./ownership.js";

export type EffectClass = "repeatable" | "keyed" | "lookup" | "once";

export interface Effect {
  token: string;
  namespace: string;
  workflowId: string;
  step: string;
  occurrence: string;
  provider: string;
  operation: string;
  account: string;
  effectClass: EffectClass;
  /** Keyed digest of account and input. */
  digest: string;
  sameDigest(stored: string): boolean;
  /** The documents that its call sends. The process owns them from the commit of the row. */
  documents?: OwnedDocument[];
  /** The least lease of a sender, for a call that may take longer than others. */
  leaseMs?: number;
}

/** The effect with the key that seals its answer. The key is loaded before the send, so that no answer is lost without it. */
export type SealedEffect = Effect & { sealer: Sealer };

/** An error of the one call proves it. */
export type SendFailure =
  | { kind: "notSent" | "denied" | "noAnswer" }
  | { kind: "refused"; refusal: object };

export interface Send {
  token: string;
  /** The token to send, if the provider takes one. */
  idempotencyToken: string;
  attempt: number;
  /** How much time is left for the call; negative when it is over. */
  leftMs(): number;
}

/**
 * How reliable an account's look-up is. `found`: it has found one of our items in time, so absence is a proof; `late`: it
 * found one only after the spacing of two look-ups; `missing`: it does not find our items; `unproven`: not known yet.
 */
export type LookUpFinding = "found" | "late" | "missing" | "unproven";

/** They make the call, and know what the activity knows about it. */
export interface EffectHandlers<A> {
  /**
   * The error to throw while the circuit is open; undefined when calls may pass. The journal checks it before it takes the
   * row, so that waiting writes nothing.
   */
  openError?(): Error | undefined;
  /** One HTTP call. Its answer must be plain JSON. */
  send(send: Send): Promise<A>;
  /** Asks the provider whether the effect happened; undefined if it finds nothing. `token` is the token of the row. */
  lookUp?(token: string): Promise<A | undefined>;
  /** How reliable an empty look-up is; if absent, an empty look-up proves that nothing exists. */
  lookUpFinding?(): Promise<LookUpFinding>;
  sendFailureOf(error: unknown): SendFailure;
}

// UUID of this project, for RFC 9562 §5.5; another value would give every open effect another token.
const NAMESPACE = "6f0a5b0e-3c1d-4e8a-9b57-2d8f4c1e7a90";

/** The same after a retry, a crash, a reset, continue-as-new or a start again (docs/design.md §6). */
export function effectToken(
  namespace: string,
  workflowId: string,
  step: string,
  occurrence: string,
): string {
  return v5(JSON.stringify([namespace, workflowId, step, occurrence]), NAMESPACE);
}

/**
 * The token that goes over the wire: another one after each denial (docs/reading-the-specification.md §1), so that none
 * stays stuck to it, and for another input.
 */
export function wireToken(token: string, generation: number): string {
  return generation === 0 ? token : v5(String(generation), token);
}
