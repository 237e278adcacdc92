// Lists the activities of certified post (P2 §2.1–2.5, §4.1; docs/reading-the-specification.md §1–2).
import { activitiesOf } from "../runtime/activity.js";
import { ask } from "./ask.js";
import { EviPostContext, provider } from "./context.js";
import type { EviPostDependencies } from "./context.js";
import { submit } from "./submit.js";
import { cancel, requestAffidavit } from "./updates.js";

export type { EviPostDependencies } from "./context.js";
export type { PostalSubmitted } from "./submit.js";

export function createEviPostActivities(deps: EviPostDependencies) {
  const activity = activitiesOf(provider, deps, EviPostContext);
  return {
    submit: activity("submit", submit),
    ask: activity("query", ask),
    cancel: activity("cancel", cancel),
    requestAffidavit: activity("requestAffidavit", requestAffidavit),
  };
}
