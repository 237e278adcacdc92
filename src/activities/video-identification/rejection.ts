// The update `rejectCall` (P1 §4.2): a call without a token and without a look-up of its own.
import { ProviderFields } from "../../contracts/shared/values.js";
import type { RejectAnswer } from "../../contracts/verify-identity/messages.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import * as video from "../../providers/video-identification/client.js";
import type { UpdateCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import { isUnanswered, refusalIn } from "../runtime/one-time-password.js";
import type { Call, VideoContext } from "./context.js";

/** An error is the update's answer (docs/reading-the-specification.md §9). */
export async function rejectCall(
  context: VideoContext,
  { effect, fields: given, ...call }: UpdateCall & Call & { fields?: unknown },
): Promise<RejectAnswer> {
  const { idConference } = call;
  try {
    const before = await madeBefore(context, call);
    if (before) return { answer: before };
    const fields = ProviderFields.parse(given ?? {});
    await runEffect(
      context,
      effect,
      {
        operation: "rejectCall",
        input: { idConference, fields },
        async send({ signal }) {
          await video.rejectCall(context.account, { idConference, fields }, signal);
          return {};
        },
      },
      { of: "update" },
    );
    return { answer: "rejected" };
  } catch (error) {
    if (refusalIn(error)) return { answer: "refused" };
    if (isUnanswered(error)) return { answer: "unknown" };
    if (error instanceof ProviderError && error.kind === "protocol") return { answer: "refused" };
    if (error instanceof ProviderError) return { answer: "unavailable" };
    throw error;
  }
}

/**
 * What earlier updates, also of other runs, have done. While one is in doubt, another is sent only if the conference data show that
 * the call goes on, and the earlier request is over (docs/reading-the-specification.md §0).
 */
async function madeBefore(
  context: VideoContext,
  call: Call,
): Promise<"rejected" | "unknown" | undefined> {
  const { journal } = context.deps;
  const now = await journal.now();
  const rows = await journal.rows(context.process);
  const tried = rows.filter(({ step }) => step === "rejectCall");
  if (tried.some(({ state }) => state === "answered")) return "rejected";
  const open = tried.filter(({ state }) => state === "sending");
  if (open.length === 0) return undefined;
  const reading = context.withToken(call, (of) => video.conferenceData(context.account, of));
  const shown = await reading.catch((error: unknown) => {
    if (error instanceof ProviderError) return undefined;
    throw error;
  });
  if (shown?.state === "rejected") return "rejected";
  const isUnderWay = open.some(({ leaseUntil }) => leaseUntil !== undefined && leaseUntil > now);
  const isShownOpen = shown?.state !== undefined && shown.state !== "closed";
  return isShownOpen && !isUnderWay ? undefined : "unknown";
}
