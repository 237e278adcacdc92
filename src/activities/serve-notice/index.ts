// The activities of `serveNotice`: at each of its two services what comes before the start of a child (docs/decisions/0031). Those of
// the children do the rest.
import { EviPostContext, provider as post } from "../evi-post/context.js";
import type { EviPostDependencies } from "../evi-post/context.js";
import { provider as notice } from "../evi-notice/context.js";
import { activitiesOf } from "../runtime/activity.js";
import { ServeNoticeContext, prepareNotice, readNotice } from "./notice.js";
import type { ServeNoticeDependencies } from "./notice.js";
import { preparePost } from "./post.js";

export type { PreparedNotice } from "./notice.js";
export type { PreparedPost } from "./post.js";

export function createServeNoticeActivities(deps: ServeNoticeDependencies) {
  const activity = activitiesOf(notice, deps, ServeNoticeContext);
  return {
    prepareNotice: activity("submit", prepareNotice),
    readNotice: activity("get", readNotice),
  };
}

export function createServePostActivities(deps: EviPostDependencies) {
  const activity = activitiesOf(post, deps, EviPostContext);
  return { preparePost: activity("submit", preparePost) };
}
