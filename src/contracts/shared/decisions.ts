// What each decision on an attention does, in words for the person who decides: the Web UI and the command line show the same.
// No zod: workflows import this file.
import type { Decision } from "./messages.js";
import type { Attention } from "./status.js";

/** What stands for the name in a command to be copied; nobody decides under it. */
export const namePlaceholder = "NAME";

/** What a second operator has to know; the names of decision and operator are ours. */
export function proposedLine({
  decision,
  principal,
  at,
}: NonNullable<Attention["proposed"]>): string {
  return `${decision} was proposed by ${principal} at ${at}: it is done when another operator decides alike`;
}

/** One line for each decision that the attention takes. */
export function consequencesOf(attention: Attention): [Decision, string][] {
  return attention.decisions.map((decision) => [decision, consequences[decision](attention)]);
}

/** Their retry waits for another code. */
const codeSteps = new Set(["validate", "sign"]);

const consequences: Record<Decision, (attention: Attention) => string> = {
  retry({ kind, step, retryNeeds = [] }) {
    if (kind === "cancelRequested") return "the process goes on as if nobody had asked to cancel";
    if (retryNeeds.length > 0 && codeSteps.has(step))
      return "sends nothing itself: another code may be entered, and counts a second time if the first was taken; check the provider's portal first; needs --confirm-retry and --note";
    if (retryNeeds.length > 0)
      return "sends a second one if the first arrived: check the provider's portal first; needs --confirm-retry and --note";
    if (kind === "unknownOutcome") return "the process goes on waiting; nothing is sent";
    return "tries again at once; what the provider has done already is not done twice";
  },
  happened({ happenedNeeds = [] }) {
    const checked = "you checked at the provider that it was done, and the process goes on";
    return happenedNeeds.length > 0
      ? `${checked}; needs --result with ${happenedNeeds.join(", ")}`
      : `${checked}; or it goes on without`;
  },
  abandon: () => "ends the process as failed; nothing is undone at the provider",
};
