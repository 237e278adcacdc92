// Before the call is followed: the input is checked, and the conference becomes the process's own, so that its close event finds it
// (P1 §2.7, 6.1).
import { VerifyIdentityInput } from "../../contracts/verify-identity/contract.js";
import type { VideoSettings } from "../../contracts/verify-identity/contract.js";
import { EffectMismatch } from "../../journal/errors.js";
import { InvalidInput } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import { resolved } from "../runtime/provider-context.js";
import { provider } from "./context.js";
import type { Call, VideoContext } from "./context.js";

/** What the process does, fixed for the run. */
export interface VideoPlan {
  environment: string;
  account: string;
  settings: VideoSettings;
  /** Of the alert: an earlier run that failed has removed what it registered. */
  alertOccurrence: string;
  /** An earlier run has rejected the call. */
  isRejected: boolean;
}

export async function prepare(
  context: VideoContext,
  given: { input: unknown; mode: AttemptMode },
): Promise<VideoPlan> {
  const { account, deps } = context;
  const input = context.parse(VerifyIdentityInput, given.input);
  if (input.asyncRequest && account.pointers.asyncState === undefined) {
    const problem =
      "needs pointers.asyncState of the account: nothing else shows the request's end";
    throw new InvalidInput([{ path: "asyncRequest", problem }]);
  }
  const rows = await deps.journal.rows(context.process);
  return {
    environment: deps.environment,
    account: account.name,
    settings: resolved(deps.defaults.verifyIdentity, input.settings),
    alertOccurrence: String(rows.filter(({ step }) => step === "removeAlert").length),
    isRejected: rows.some(({ step, state }) => step === "rejectCall" && state === "answered"),
  };
}

/**
 * Fails as `InputMismatch` where an earlier run of the process had another conference. `owner`: the other process whose conference it is.
 * `from`: that process has ended, and gives it up.
 */
export async function claim(
  { account, deps, process: processKey }: VideoContext,
  {
    idConference,
    from,
  }: Pick<Call, "account" | "idConference"> & { from?: string; mode: AttemptMode },
): Promise<{ owner?: string }> {
  const correlation = { provider, account: account.name, reference: idConference, ...processKey };
  const { namespace } = processKey;
  const references = await deps.journal.referencesOf(processKey);
  if (references.some((reference) => reference !== idConference))
    throw new EffectMismatch(processKey.workflowId);
  if (from !== undefined)
    await deps.journal.takeReference(correlation, { namespace, workflowId: from });
  const owner = await deps.journal.claimReference(correlation);
  const isOurs = owner.namespace === namespace && owner.workflowId === processKey.workflowId;
  return isOurs ? {} : { owner: owner.workflowId };
}
