// The update that `serveNotice` alone takes. No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { Decider } from "../shared/messages.js";

/**
 * `cancelled`: no post will be started; if the notice was not started either, the process ends, else it follows the notice to its
 * end. `tooLate`: the post was started; `child` is its id, where its own `cancel` may still be in time.
 */
export interface ServeCancelAnswer {
  answer: "cancelled" | "tooLate" | "unavailable";
  child?: string;
}
export const cancelServing = defineUpdate<ServeCancelAnswer, [Decider]>("cancel");
