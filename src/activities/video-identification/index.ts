// Lists the activities of the video identification service (P1 §1.2, 4.2).
import { activitiesOf } from "../runtime/activity.js";
import { prepare, registerAlert, removeAlert, takeConference } from "./prepare.js";
import { ask } from "./ask.js";
import { deleteAudit, keepAudit, keepConference } from "./audit.js";
import { VideoContext, provider } from "./context.js";
import type { VideoDependencies } from "./context.js";
import { rejectCall } from "./rejection.js";

export function createVideoActivities(deps: VideoDependencies) {
  const activity = activitiesOf(provider, deps, VideoContext);
  return {
    prepare: activity("prepare", prepare),
    claim: activity("claim", takeConference),
    registerAlert: activity("registerAlertEmail", registerAlert),
    removeAlert: activity("registerAlertEmail", removeAlert),
    ask: activity("conferenceData", ask),
    keepConference: activity("conferenceData", keepConference),
    keepAudit: activity("getAuditData", keepAudit),
    deleteAudit: activity("deleteAuditData", deleteAudit),
    rejectCall: activity("rejectCall", rejectCall),
  };
}

export type VideoActivities = ReturnType<typeof createVideoActivities>;
export type { VideoCall } from "./context.js";
export type { VideoPlan } from "./prepare.js";
export type { VideoSnapshot } from "./ask.js";
