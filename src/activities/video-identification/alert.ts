// The addresses that the provider tells of failed callbacks (P1 §4.2). A registration replaces the one before it for the same
// `processId`, and nothing reads it back.
import * as video from "../../providers/video-identification/client.js";
import type { StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import type { VideoContext } from "./context.js";

type OfAlert = StepCall & { account: string; processId: string };

export function registerAlert(
  context: VideoContext,
  { effect, processId, emails }: OfAlert & { emails: readonly string[] },
): Promise<object> {
  const input = { processId, emails };
  return runEffect(
    context,
    effect,
    {
      operation: "registerAlertEmail",
      input,
      async send({ signal }) {
        await video.registerAlertEmail(context.account, input, signal);
        return {};
      },
    },
    { of: "step" },
  );
}

/** P1 §4.2, rule 3. */
export function removeAlert(context: VideoContext, given: OfAlert): Promise<object> {
  return registerAlert(context, { ...given, emails: [] });
}
