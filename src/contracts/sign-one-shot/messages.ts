// The updates that `signOneShot` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { Decider } from "../shared/messages.js";

export interface ContractAnswer {
  answer: "accepted" | "refused" | "notAwaited" | "unavailable";
}
export const acceptContract = defineUpdate<ContractAnswer, [Decider & { accepted: boolean }]>(
  "acceptContract",
);

export interface VideoAnswer {
  answer: "approved" | "cancelled" | "notAwaited" | "refused" | "unknown" | "unavailable";
}
export const decideVideo = defineUpdate<
  VideoAnswer,
  [Decider & { decision: "approve" | "cancel" }]
>("decideVideo");

export interface VideoUpdate {
  providerFields: Record<string, unknown>;
}
export interface VideoUpdateAnswer {
  answer: "updated" | "notAwaited" | "refused" | "unknown" | "unavailable";
}
export const updateVideo = defineUpdate<VideoUpdateAnswer, [Decider & VideoUpdate]>("updateVideo");
