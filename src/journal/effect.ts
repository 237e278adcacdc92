// What an activity gives the journal: the effect, and the handlers that make its one call.
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
}

/** With the key that seals its answer. The key is loaded before anything is sent, so that no answer is lost without it. */
export type SealedEffect = Effect & { sealer: Sealer };

export type Verdict =
  | { kind: "notSent"; renewToken?: boolean }
  | { kind: "refused"; refusal: object }
  | { kind: "noAnswer" };

export interface Send {
  token: string;
  /** The token to send, if the provider takes one. */
  idempotencyToken: string;
  attempt: number;
  /** The call must end before it, on this machine's clock. */
  deadline: Date;
}

/**
 * What an account's look-up is worth. `found`: it has found an item of ours in time, so that absence proves something;
 * `late`: only after longer than two look-ups are apart; `missing`: it does not find our items; `unproven`: not known yet.
 */
export type LookUpFinding = "found" | "late" | "missing" | "unproven";

/** How an activity makes the call of its effect, and what it can say of it. */
export interface EffectHandlers<A> {
  /** The error to throw while the circuit is open and calls may not pass: asked before the row is taken, so that waiting writes nothing. */
  openError?(): Error | undefined;
  /** One HTTP call. Its answer must be plain JSON. */
  send(send: Send): Promise<A>;
  /** Asks the provider whether the effect happened; undefined if it finds nothing. `token` is the token of the row. */
  lookUp?(token: string): Promise<A | undefined>;
  /** What an empty look-up is worth; without it, it proves that nothing exists. */
  lookUpFinding?(): Promise<LookUpFinding>;
  verdict(error: unknown): Verdict;
}
