// Says in words for the operator what each decision on an attention does; the Web UI and the command line use the same words. No zod:
// workflows import this file.
import type { Decision } from "./messages.js";
import type { Attention, ProcessStatus } from "./status.js";
import { shellWord } from "./text.js";

/** The placeholder for the name in a command to be copied; it is refused as a name. */
export const namePlaceholder = "NAME";

/** The line that a second operator needs; it contains only our own names of decisions and operators. */
export function proposedLine({
  decision,
  principal,
  at,
}: NonNullable<Attention["proposed"]>): string {
  return `${decision} was proposed by ${principal} at ${at}: it takes effect when a second operator makes the same decision`;
}

/** The lines that say where, for what and for which times to look in the provider's portal. */
export function traceLines(
  { lookFor = {}, attempts = [] }: Attention,
  { environment, account }: Pick<ProcessStatus, "environment" | "account">,
): string[] {
  const members = Object.entries(lookFor).map(([name, value]) => `${name} ${value}`);
  const portal = `Look in the provider's portal (${environment}, account ${account}) for`;
  return [
    ...(members.length > 0 ? [`${portal} ${members.join("; ")}`] : []),
    ...(members.length === 0 && attempts.length > 0 ? [`${portal} a call at the times below`] : []),
    ...attempts.map(({ from, until }) => `The provider was called between ${from} and ${until}`),
  ];
}

/**
 * The command of a decision, to be copied. As it stands it decides nothing, because `NAME` is refused; `--result -` asks for what the
 * decision needs. A retry that needs `--confirm-retry` and `--note` has neither: they stand for a look into the provider's portal. The Web
 * UI cuts off the end of a long line, so the decision comes first.
 */
export function commandOf(workflowId: string, attention: Attention, decision: Decision): string {
  const { id, happenedNeeds = [] } = attention;
  const result = decision === "happened" && happenedNeeds.length > 0 ? " --result -" : "";
  return `trustflow resolve ${shellWord(workflowId)} --decision ${decision} --attention ${shellWord(id)}${result} --by ${namePlaceholder}`;
}

/** What a person does next about a code: without a try left, only another code helps. */
export function otpCommandOf(workflowId: string, { triesLeft }: { triesLeft: number }): string {
  return `trustflow ${triesLeft === 0 ? "resend-otp" : "otp"} ${shellWord(workflowId)}`;
}

/** One line for each decision that the attention takes. */
export function consequencesOf(attention: Attention): [Decision, string][] {
  return attention.decisions.map((decision) => [decision, consequences[decision](attention)]);
}

/** The steps that are a process of their own, which ended without a result. */
const childSteps = new Set(["notice", "post"]);

/** The steps whose retry waits for another code. */
const codeSteps = new Set(["validate", "sign"]);

const consequences: Record<Decision, (attention: Attention) => string> = {
  retry({ kind, step, retryNeeds = [] }) {
    if (childSteps.has(step))
      return "starts it again under its id; an effect that already exists is not repeated";
    if (kind === "cancelRequested")
      return "the process continues; the cancellation request is dropped";
    if (kind === "failureBudget") return "the process continues, however many recipients fail";
    if (retryNeeds.length > 0 && codeSteps.has(step))
      return "sends nothing itself: the holder can enter another code, which counts a second time if the provider accepted the first; check the provider's portal first; needs --confirm-retry and --note";
    if (retryNeeds.length > 0)
      return "causes a second effect if the first attempt arrived: check the provider's portal first; needs --confirm-retry and --note";
    if (kind === "unknownOutcome") return "the process continues to wait; nothing is sent";
    return "tries again now; an effect that already exists is not repeated";
  },
  happened({ step, happenedNeeds = [] }) {
    if (childSteps.has(step)) return `goes on without the ${step}, which then counts as not served`;
    if (step === "readNotice") return "the post goes out: the notice was not served in time";
    const checked = "you verified at the provider that it happened; the process continues";
    return happenedNeeds.length > 0
      ? `${checked}; needs --result with ${happenedNeeds.join(", ")}`
      : `${checked}; --result is optional`;
  },
  abandon: () => "ends the process as failed; nothing is undone at the provider",
};
