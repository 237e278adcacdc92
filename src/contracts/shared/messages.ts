// The messages that every process takes, and those of a one-time password: signals, one query, and updates for all that needs an
// answer (docs/design.md §2). What one process alone takes stands in its own folder.
import { defineQuery, defineSignal, defineUpdate } from "@temporalio/workflow";
import type { ProviderEvent } from "./provider-event.js";
import type { ProcessStatus } from "./status.js";

/** All events that wait for a process, at most 100 at once; delivered at least once, so deduplicated by `id`. */
export const providerEvents = defineSignal<[ProviderEvent[]]>("providerEvents");

/** How many callbacks there are beyond those that the process was told of; they stand in the inbox alone. */
export interface Surplus {
  count: number;
}
/** Sent at growing distances (callbacks/inbox/inbox.ts): a process asks its provider, as after a callback that claims the end. */
export const surplus = defineSignal<[Surplus]>("surplus");

/** What the clean-up did to a process that was stuck. Sent before the reset, so it says which run was reset. */
export interface Repair {
  runId: string;
  /** When the first of its workflow tasks failed. */
  since: string;
}
export const repaired = defineSignal<[Repair]>("repaired");

export const status = defineQuery<ProcessStatus>("status");

/** How a query fails that came before the workflow task of its newest events; asked again, it is answered. */
export const queryTooEarly = "the process has just gone on: ask again";

/** The proof of who decides: an operator's signature of this one decision (docs/any-language.md). */
export interface DecisionSignature {
  operator: string;
  /** When it was signed, RFC 3339 in UTC. */
  at: string;
  /** Ed25519, base64. */
  value: string;
}

/** Who decides, as the caller states it, why, and the proof. */
export interface Decider {
  by?: string;
  note?: string;
  signature?: DecisionSignature;
}

/**
 * docs/reading-the-specification.md §5: what became of a code that the holder entered. `triesLeft` and `expired` are by
 * our own counter and deadline.
 */
export type OtpAnswer =
  | { answer: "accepted" | "expired" | "locked" | "unavailable" }
  | { answer: "wrong"; triesLeft: number }
  | { answer: "unknown"; providerCode?: string };
export const submitOtp = defineUpdate<OtpAnswer, [{ code: string }]>("submitOtp");

/** `unknown`: it may have been sent, nobody can say; `refused`: none was sent, by the provider's code. */
export type ResendAnswer =
  | { answer: "sent" | "unknown"; resendsLeft: number }
  | { answer: "tooSoon"; until: string }
  | { answer: "refused"; providerCode?: string }
  | { answer: "limitReached" | "expired" | "unavailable" };
export const resendOtp = defineUpdate<ResendAnswer>("resendOtp");

export type Decision = "retry" | "happened" | "abandon";

/** A person's word on a process that asks (docs/design.md §6). */
export interface Resolution extends Decider {
  attention: string;
  decision: Decision;
  by: string;
  /**
   * With `retry` of an effect whose outcome nobody knows, together with a note: the provider was asked, the first one did not
   * arrive, or a second one is wanted.
   */
  confirmRetry?: boolean;
  /** With `happened`: the step's result, for example `{ "uniqueId": "…" }`. */
  result?: Record<string, unknown>;
}
export interface ResolveAnswer {
  /** `pending`: a second operator has to decide alike. */
  answer: "resolved" | "pending" | "notYet" | "unavailable";
  /** With `notYet`: an attempt may still be running until then. */
  until?: string;
}
export const resolve = defineUpdate<ResolveAnswer, [Resolution]>("resolve");
