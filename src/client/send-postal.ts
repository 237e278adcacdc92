// The handle of `sendPostal`.
import { cancel, requestAffidavit } from "../contracts/send-postal/messages.js";
import type { AffidavitAnswer, CancelAnswer } from "../contracts/send-postal/messages.js";
import type {
  PostalAffidavitRequest,
  SendPostalResult,
} from "../contracts/send-postal/contract.js";
import { ProcessHandle } from "./handle.js";
import type { Stated } from "./handle.js";

export class PostalHandle extends ProcessHandle<SendPostalResult> {
  /** Cancels the letter before it is dispatched (P2 §4.1 Cancel). The same `updateId` is one cancellation. */
  cancel(updateId?: string, stated: Stated = {}): Promise<CancelAnswer> {
    return this.update(cancel, [stated], updateId);
  }

  /** Requests an affidavit on demand (P2 §4.1 AffidavitRequest). The same `updateId` is one request. */
  requestAffidavit(
    asked: PostalAffidavitRequest = {},
    updateId?: string,
  ): Promise<AffidavitAnswer> {
    return this.update(requestAffidavit, [asked], updateId);
  }
}
