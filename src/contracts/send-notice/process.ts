import { NoticeAffidavitRequest, SendNoticeInput, SendNoticeResult } from "./contract.js";
import type { NoticeSettings } from "./contract.js";
import { update } from "../definition/message-contract.js";
import { DAY_SECONDS, defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { affidavitAnswers, noticeAffidavitRefusals } from "../shared/communication.js";
import { requestNoticeAffidavit } from "./messages.js";
import { noticeStates } from "./states.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";
export * from "./messages.js";
export * from "./states.js";

export const sendNotice = defineProcess({
  title: "Certified notice",
  provider: "evi-notice",
  input: SendNoticeInput,
  result: SendNoticeResult,
  status: ProcessStatus,
  phases: [["submitting", "tracking", "affidavits", "ended"]],
  states: noticeStates,
  /** All in seconds. */
  defaults: {
    affidavitWindowSeconds: { value: 7 * DAY_SECONDS },
    /** Without `timeToLive`: above the longest that the provider allows (P2 §8). */
    deadlineSeconds: { value: 62 * DAY_SECONDS, least: 1 },
    /** With `timeToLive`: how long after its end the notice may stay open. */
    deadlineMarginSeconds: { value: 2 * DAY_SECONDS },
    pollIntervalSeconds: { value: DAY_SECONDS / 4, least: 1 },
    askIntervalSeconds: { value: 60, least: 1 },
  } satisfies DefaultsFor<NoticeSettings>,
  updates: {
    requestAffidavit: update(requestNoticeAffidavit, {
      description: "Request an affidavit on demand (P2 §4.2 On-demand affidavit).",
      argument: NoticeAffidavitRequest,
      answer: affidavitAnswers(noticeAffidavitRefusals),
    }),
  },
  command: {
    summary: "send a certified notice by e-mail or to a mobile number",
    details: `Each attachment may be { "fileName": "…", "document": { "path": "…" } }, relative to the input file; the command stores the file in the document store.`,
    example:
      "trustflow send-notice --input notice.json --id order-7 --watch\ntrustflow send-notice --input notice.json --dry-run",
    notChecked: "what the account may use, and its balance: the provider checks it at the submit",
  },
});
