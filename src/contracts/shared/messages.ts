// Every process takes these messages, and those of a one-time password: signals, one query, and updates for all that needs an answer
// (docs/design.md §2). The messages of only one process are in its own folder.
import { defineQuery, defineSignal, defineUpdate } from "./define.js";
import type { ProviderEvent } from "./provider-event.js";
import type { ProcessStatus } from "./status.js";

/** All events that wait for a process, at most 100 at once; delivered at least once, so deduplicated by `id`. */
export const providerEvents = defineSignal<[ProviderEvent[]]>("providerEvents");

/** Counts the callbacks beyond those that the process receives; they stay in the inbox. */
export interface Surplus {
  count: number;
}
/**
 * Sent with growing pauses (callbacks/inbox/inbox.ts); the process polls its provider, as after a callback that reports an
 * end.
 */
export const surplus = defineSignal<[Surplus]>("surplus");

/** The clean-up sends it before it resets a stuck process, so it names the run that was reset. */
export interface Repair {
  runId: string;
  since: string;
}
export const repaired = defineSignal<[Repair]>("repaired");

/** `full`: with what the provider has said of the communication and of its reader. */
export const status = defineQuery<ProcessStatus, [{ full?: boolean }?]>("status");

/** The query came before the workflow task of the newest events; the caller repeats the query. */
export const queryTooEarly = "the process has just gone on: ask again";

/** The proof of the person who decides: an operator's signature of this one decision (docs/any-language.md). */
export interface DecisionSignature {
  operator: string;
  at: string;
  value: string;
}

/** The person who decides, as the caller states it, with the reason and the proof. */
export interface Decider {
  by?: string;
  note?: string;
  signature?: DecisionSignature;
}

/**
 * A holder who entered a code gets it (docs/reading-the-specification.md §5). `triesLeft` and `expired` come from our own counter and
 * deadline.
 */
export type OtpAnswer =
  | { answer: "accepted" | "expired" | "locked" | "unavailable" }
  | { answer: "wrong"; triesLeft: number }
  | { answer: "unknown"; providerCode?: string };
export const submitOtp = defineUpdate<OtpAnswer, [{ code: string }]>("submitOtp");

export type ResendAnswer =
  | { answer: "sent" | "unknown"; resendsLeft: number }
  | { answer: "tooSoon"; until: string }
  | { answer: "refused"; providerCode?: string }
  | { answer: "limitReached" | "expired" | "unavailable" };
export const resendOtp = defineUpdate<ResendAnswer>("resendOtp");

/** Answered once the first code is sent, so that a caller can ask in the request that starts the process. */
export type AwaitAnswer =
  | { answer: "sent"; triesLeft: number; resendsLeft: number }
  | { answer: "notYet" | "notAwaited" };
export const awaitOtp = defineUpdate<AwaitAnswer>("awaitOtp");

export type Decision = "retry" | "happened" | "abandon";

/** A person's decision on an attention (docs/design.md §6). */
export interface Resolution extends Decider {
  attention: string;
  decision: Decision;
  by: string;
  confirmRetry?: boolean;
  result?: Record<string, unknown>;
}
export interface ResolveAnswer {
  answer: "resolved" | "pending" | "notYet" | "unavailable";
  until?: string;
}
export const resolve = defineUpdate<ResolveAnswer, [Resolution]>("resolve");
