// The update that `serveNotice` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { Decider } from "../shared/messages.js";

export interface ServeCancelAnswer {
  answer: "cancelled" | "tooLate" | "unavailable";
  child?: string;
}
export const cancelServing = defineUpdate<ServeCancelAnswer, [Decider]>("cancel");
