// The activities of certified notices (P2 §2.6–2.7, §4.2).
import { activitiesOf } from "../runtime/activity.js";
import { ask } from "./ask.js";
import { EviNoticeContext, provider } from "./context.js";
import type { EviNoticeDependencies } from "./context.js";

export function createEviNoticeActivities(deps: EviNoticeDependencies) {
  const activity = activitiesOf(provider, deps, (attempt) => new EviNoticeContext(deps, attempt));
  return { ask: activity("get", ask) };
}
