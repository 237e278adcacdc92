// The updates that `signOneShot` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { Decider } from "../shared/messages.js";

/** With `notAwaited` the process does not wait for the contract's acceptance. */
export interface ContractAnswer {
  answer: "accepted" | "refused" | "notAwaited" | "unavailable";
}
export const acceptContract = defineUpdate<ContractAnswer, [Decider & { accepted: boolean }]>(
  "acceptContract",
);

/** P1 §1.4: approve or cancel the identity video. */
export interface VideoAnswer {
  answer: "approved" | "cancelled" | "notAwaited" | "refused" | "unknown" | "unavailable";
}
export const decideVideo = defineUpdate<
  VideoAnswer,
  [Decider & { decision: "approve" | "cancel" }]
>("decideVideo");

/** P1 §1.4: change the request of the identity video, while its decision is awaited. */
export interface VideoUpdate {
  providerFields: Record<string, unknown>;
}
/** `unknown`: the change may have arrived; the same `updateId` never sends it again. */
export interface VideoUpdateAnswer {
  answer: "updated" | "notAwaited" | "refused" | "unknown" | "unavailable";
}
export const updateVideo = defineUpdate<VideoUpdateAnswer, [Decider & VideoUpdate]>("updateVideo");
