// The activities of certified notices (P2 §2.6–2.7, §4.2; docs/reading-the-specification.md §1, §3).
import { activitiesOf } from "../runtime/activity.js";
import { ask } from "./ask.js";
import { attachments } from "./attachments.js";
import { EviNoticeContext, provider } from "./context.js";
import type { EviNoticeDependencies } from "./context.js";
import { submit } from "./submit.js";
import { requestAffidavit } from "./updates.js";

export type { NoticeSubmitted } from "./submit.js";

export function createEviNoticeActivities(deps: EviNoticeDependencies) {
  const activity = activitiesOf(provider, deps, EviNoticeContext);
  return {
    submit: activity("submit", submit),
    ask: activity("get", ask),
    attachments: activity("downloadAttachments", attachments),
    requestAffidavit: activity("requestAffidavit", requestAffidavit),
  };
}
