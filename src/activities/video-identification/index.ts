// Lists the activities of the video identification service (P1 §1.2, 4.2).
import { activitiesOf } from "../runtime/activity.js";
import { prepare, registerAlert, removeAlert, takeConference } from "./prepare.js";
import { ask } from "./ask.js";
import { deleteAudit, keepAudit, keepConference } from "./audit.js";
import { VideoContext, provider } from "./context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";
import { cancellationSignal } from "@temporalio/activity";
import { ProviderFields } from "../../contracts/shared/values.js";
import type { RejectAnswer } from "../../contracts/verify-identity/messages.js";
import * as video from "../../providers/video-identification/client.js";
import type { UpdateCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import { earlierRequests, ifShown, updateAnswer } from "../runtime/update-answer.js";
import type { VideoCall } from "./context.js";

export function createVideoActivities(deps: ProviderDependencies<typeof provider>) {
  const activity = activitiesOf(provider, deps, VideoContext);
  // An audit may come a day after its call: it is asked for until the time of its step is over.
  const patient = activitiesOf(provider, { ...deps, invisibleForMs: Infinity }, VideoContext);
  return {
    prepare: activity("prepare", prepare),
    claim: activity("claim", takeConference),
    registerAlert: activity("registerAlertEmail", registerAlert),
    removeAlert: activity("registerAlertEmail", removeAlert),
    ask: activity("conferenceData", ask),
    keepConference: activity("conferenceData", keepConference),
    keepAudit: patient("getAuditData", keepAudit),
    deleteAudit: activity("deleteAuditData", deleteAudit),
    rejectCall: activity("rejectCall", rejectCall),
  };
}

export type VideoActivities = ReturnType<typeof createVideoActivities>;
export type { VideoCall } from "./context.js";
export type { VideoPlan } from "./prepare.js";
export type { VideoSnapshot } from "./ask.js";

/** An error is the update's answer (docs/reading-the-specification.md §9). */
export async function rejectCall(
  context: VideoContext,
  { effect, fields: given, ...call }: UpdateCall & VideoCall & { fields?: unknown },
): Promise<RejectAnswer> {
  const { idConference } = call;
  return updateAnswer(async () => {
    const before = await madeBefore(context, call);
    if (before) return before;
    const fields = ProviderFields.parse(given ?? {});
    await runEffect(context, effect, {
      of: "update",
      operation: "rejectCall",
      input: { idConference, fields },
      send: ({ signal }) => video.rejectCall(context.account, { idConference, fields }, signal),
    });
    return "rejected";
  });
}

/**
 * Looks at what earlier updates, also of other runs, have done. While one is in doubt, another is sent only if the conference data show
 * that the call goes on, and the earlier request is over (docs/reading-the-specification.md §0).
 */
async function madeBefore(
  context: VideoContext,
  call: VideoCall,
): Promise<"rejected" | "unknown" | undefined> {
  const { answered, isOpen, isUnderWay } = await earlierRequests(context, ["rejectCall"]);
  if (answered !== undefined) return "rejected";
  if (!isOpen) return undefined;
  const signal = cancellationSignal();
  const reading = context.withToken(call, (of) =>
    video.conferenceData(context.account, of, signal),
  );
  const shown = await ifShown(reading);
  if (shown?.state === "rejected") return "rejected";
  return shown?.state === "open" && !isUnderWay ? undefined : "unknown";
}
