// The messages that processes take: one signal, one query, and updates for all that needs an answer (DESIGN §2).
import { defineQuery, defineSignal, defineUpdate } from "@temporalio/workflow";
import type { ProviderEvent } from "./provider-event.js";
import type { PostalAffidavitRequest } from "./send-postal.js";
import type { ProcessStatus } from "./status.js";

/** All events that wait for a process, at most 100 at once; delivered at least once, so deduplicated by `id`. */
export const providerEvents = defineSignal<[ProviderEvent[]]>("providerEvents");

export const status = defineQuery<ProcessStatus>("status");

/** READING §2: what the provider makes of a cancellation (P2 §4.1 Cancel). */
export interface CancelAnswer {
  answer:
    | "cancelled"
    | "tooLate"
    | "notOwner"
    | "notPermitted"
    | "unknown"
    | "pending"
    | "unavailable";
}
export const cancel = defineUpdate<CancelAnswer>("cancel");

/** P2 §4.1 AffidavitRequest; `requestId` where it was requested, `reason` where the provider refused. */
export type AffidavitAnswer =
  | { answer: "requested"; requestId: string }
  | { answer: "refused"; reason: string }
  | { answer: "notEligible" | "unknown" | "unavailable" };
export const requestAffidavit = defineUpdate<AffidavitAnswer, [PostalAffidavitRequest]>(
  "requestAffidavit",
);

export type Decision = "retry" | "happened" | "abandon";

/** A person's word on a process that asks (DESIGN §6). */
export interface Resolution {
  attention: string;
  decision: Decision;
  by: string;
  note?: string;
  /** With `happened`: the step's result, for example `{ "uniqueId": "…" }`. */
  result?: Record<string, unknown>;
}
export interface ResolveAnswer {
  answer: "resolved" | "notYet" | "unavailable";
  /** With `notYet`: an attempt may still be running until then. */
  until?: string;
}
export const resolve = defineUpdate<ResolveAnswer, [Resolution]>("resolve");
