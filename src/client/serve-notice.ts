// The handle of `serveNotice`.
import { cancelServing } from "../contracts/serve-notice/messages.js";
import type { ServeCancelAnswer } from "../contracts/serve-notice/messages.js";
import type { ServeNoticeResult } from "../contracts/serve-notice/contract.js";
import { ProcessHandle } from "./handle.js";
import type { Stated } from "./handle.js";

export class ServingHandle extends ProcessHandle<ServeNoticeResult> {
  /**
   * Starts no post. A notice that was started is followed to its end; the post has its own `cancel`. The same `updateId` is one
   * cancellation.
   */
  cancel(updateId?: string, stated: Stated = {}): Promise<ServeCancelAnswer> {
    return this.update(cancelServing, [stated], updateId);
  }
}
