// The handle of `sendNotice`.
import { requestNoticeAffidavit } from "../contracts/send-notice/messages.js";
import type { NoticeAffidavitAnswer } from "../contracts/send-notice/messages.js";
import type {
  NoticeAffidavitRequest,
  SendNoticeResult,
} from "../contracts/send-notice/contract.js";
import { ProcessHandle } from "./handle.js";

export class NoticeHandle extends ProcessHandle<SendNoticeResult> {
  /** Requests an affidavit on demand (P2 §4.2 On-demand affidavit). The same `updateId` is one request. */
  requestAffidavit(
    asked: NoticeAffidavitRequest = {},
    updateId?: string,
  ): Promise<NoticeAffidavitAnswer> {
    return this.update(requestNoticeAffidavit, [asked], updateId);
  }
}
