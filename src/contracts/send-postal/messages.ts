// The updates that `sendPostal` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { Decider } from "../shared/messages.js";
import type { PostalAffidavitRequest } from "./contract.js";

/** docs/reading-the-specification.md §2: what the provider makes of a cancellation (P2 §4.1 Cancel). */
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
export const cancel = defineUpdate<CancelAnswer, [Decider]>("cancel");

export type AffidavitAnswer =
  | { answer: "requested"; requestId: string }
  | { answer: "refused"; reason: string }
  | { answer: "notEligible" | "unknown" | "unavailable" };
export const requestAffidavit = defineUpdate<AffidavitAnswer, [PostalAffidavitRequest]>(
  "requestAffidavit",
);
