// The update that `verifyIdentity` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { Decider } from "../shared/messages.js";

/** P1 §4.2; `notAwaited`: the call has ended already; `refused`: the provider does not reject it. */
export interface RejectAnswer {
  answer: "rejected" | "notAwaited" | "refused" | "unknown" | "unavailable";
}
export interface Rejection extends Decider {
  /** The body of the request, which the specification does not show; untouched. */
  providerFields?: Record<string, unknown>;
}
export const rejectCall = defineUpdate<RejectAnswer, [Rejection]>("rejectCall");
