// Before the call is followed: the input is checked, the conference becomes the process's own, so that its close event finds it, and the
// addresses are set that the provider tells of failed callbacks (P1 §2.7, 4.2, 6.1).
import * as video from "../../providers/video-identification/client.js";
import { VerifyIdentityInput } from "../../contracts/verify-identity/contract.js";
import type { VideoSettings } from "../../contracts/verify-identity/contract.js";
import { EffectMismatch } from "../../journal/errors.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { InputCall, StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import type { AttemptMode } from "../runtime/failure.js";
import { NotAllowed, resolved } from "../runtime/provider-context.js";
import { provider } from "./context.js";
import type { VideoCall, VideoContext } from "./context.js";
import type { Place } from "../runtime/provider-context.js";

/** It is fixed for the run. */
export interface VideoPlan extends Place {
  settings: VideoSettings;
  /** The alert has one of its own after each removal: an earlier run that failed has removed what it registered. */
  alertOccurrence: string;
  /** An earlier run has rejected the call. */
  isRejected: boolean;
}

export async function prepare(context: VideoContext, given: InputCall): Promise<VideoPlan> {
  const { account, deps } = context;
  const input = context.parse(VerifyIdentityInput, given.input);
  if (input.asyncRequest && account.pointers.asyncState === undefined) {
    const problem =
      "needs pointers.asyncState of the account: nothing else shows the request's end";
    throw new NotAllowed([{ path: "asyncRequest", problem }]);
  }
  const rows = await context.rowsOf("removeAlert", "rejectCall");
  return {
    ...context.place,
    settings: resolved(deps.defaults.verifyIdentity, input.settings),
    alertOccurrence: String(rows.filter(({ step }) => step === "removeAlert").length),
    isRejected: rows.some(({ step, state }) => step === "rejectCall" && state === "answered"),
  };
}

/**
 * Fails as `InputMismatch` where an earlier run of the process had another conference. `owner`: the other process whose conference it is.
 * `from`: that process has ended, and gives it up.
 */
export async function takeConference(
  { account, deps, process: processKey }: VideoContext,
  {
    idConference,
    from,
  }: Pick<VideoCall, "account" | "idConference"> & { from?: string; mode: AttemptMode },
): Promise<{ owner?: string }> {
  const wanted = { provider, account: account.name, reference: idConference, ...processKey };
  const { namespace } = processKey;
  const references = await deps.journal.referencesOf(processKey);
  if (references.some((reference) => reference !== idConference))
    throw new EffectMismatch(processKey.workflowId);
  if (from !== undefined) await deps.journal.takeReference(wanted, { namespace, workflowId: from });
  const owner = await deps.journal.reserveReference(wanted);
  const isOurs = owner.namespace === namespace && owner.workflowId === processKey.workflowId;
  return isOurs ? {} : { owner: owner.workflowId };
}

type OfAlert = StepCall & {
  account: string;
  processId: string;
  before?: readonly string[] | undefined;
};

export function registerAlert(
  context: VideoContext,
  { effect, processId, emails, before = [] }: OfAlert & { emails: readonly string[] },
): Promise<object> {
  const addresses = [...new Set([...before, ...emails])];
  return setAddresses(context, effect, { processId, emails: addresses });
}

/** A registration replaces the one before it for the same `processId`, and nothing reads it back. */
function setAddresses(
  context: VideoContext,
  effect: StepCall["effect"],
  input: { processId: string; emails: readonly string[] },
  refused?: (error: unknown) => never,
): Promise<object> {
  return runEffect<typeof provider, object>(context, effect, {
    operation: "registerAlertEmail",
    input,
    async send({ signal }) {
      const registering = video.registerAlertEmail(context.account, input, signal);
      await (refused ? registering.catch(refused) : registering);
    },
  });
}

/** By then the call is over: a removal that is refused must not fail the process, so a person decides. */
function asProtocol(error: unknown): never {
  if (!(error instanceof ProviderError) || error.kind !== "invalidRequest") throw error;
  const { operation, status, code } = error;
  const problem = "the service refuses to remove the alert addresses";
  throw new ProviderError({
    kind: "protocol",
    effect: "none",
    provider,
    operation,
    problem,
    status,
    code,
  });
}

/**
 * P1 §4.2, rules 2 and 3; only where the service has accepted the registration of the process, and the caller says which addresses
 * were there `before`: others may not be ours.
 */
export async function removeAlert(
  context: VideoContext,
  given: OfAlert,
): Promise<{ isLeft?: boolean }> {
  const rows = await context.rowsOf("registerAlert");
  const registration = rows.find(({ occurrence }) => occurrence === given.effect.occurrence);
  if (!registration || registration.state === "refused") return {};
  const { effect, processId, before } = given;
  if (registration.state !== "answered" || before === undefined) return { isLeft: true };
  await setAddresses(context, effect, { processId, emails: before }, asProtocol);
  return {};
}
