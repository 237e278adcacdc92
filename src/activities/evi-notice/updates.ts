// The call of a notice process's update (P2 §4.2 On-demand affidavit; docs/reading-the-specification.md §3, §9).
import type { NoticeAffidavitAnswer } from "../../contracts/send-notice/messages.js";
import type { NoticeAffidavitRequest } from "../../contracts/send-notice/contract.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import { requestOnce } from "../evi/affidavit-request.js";
import type { EviUpdate } from "../evi/affidavit-request.js";
import type { EviNoticeContext } from "./context.js";

/** P2 §4.2: the two statuses that say why there is none. */
export const affidavitRefusals = { 403: "limitReached", 405: "notEligible" } as const;

export function requestAffidavit(
  context: EviNoticeContext,
  given: EviUpdate & { asked: NoticeAffidavitRequest },
): Promise<NoticeAffidavitAnswer> {
  const { uniqueId, asked } = given;
  const requested = {
    operation: "requestAffidavit",
    input: { uniqueId, ...asked },
    send: (signal: AbortSignal) =>
      eviNotice.requestAffidavit(context.account, { id: uniqueId, ...asked }, signal),
  } as const;
  return requestOnce(context, given, requested, affidavitRefusals);
}
