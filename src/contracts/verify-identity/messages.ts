// The update that `verifyIdentity` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { Decider } from "../shared/messages.js";

export interface RejectAnswer {
  answer: "rejected" | "notAwaited" | "refused" | "unknown" | "unavailable";
}
export interface Rejection extends Decider {
  providerFields?: Record<string, unknown>;
}
export const rejectCall = defineUpdate<RejectAnswer, [Rejection]>("rejectCall");
