// The activities of the video identification service (P1 §1.2, 4.2).
import { activitiesOf } from "../runtime/activity.js";
import { registerAlert, removeAlert } from "./alert.js";
import { VideoContext, provider } from "./context.js";
import type { VideoDependencies } from "./context.js";

export function createVideoActivities(deps: VideoDependencies) {
  const activity = activitiesOf(provider, deps, (attempt) => new VideoContext(deps, attempt));
  return {
    registerAlert: activity("registerAlertEmail", registerAlert),
    removeAlert: activity("registerAlertEmail", removeAlert),
  };
}
