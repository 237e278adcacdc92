// The addresses that the provider tells of failed callbacks (P1 §4.2). A registration replaces the one before it for the same
// `processId`, and nothing reads it back.
import { ProviderError } from "../../providers/errors/provider-error.js";
import * as video from "../../providers/video-identification/client.js";
import type { StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import { provider } from "./context.js";
import type { VideoContext } from "./context.js";

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
  const rows = await context.deps.journal.rows(context.process);
  const registration = rows.find(
    ({ step, occurrence }) => step === "registerAlert" && occurrence === given.effect.occurrence,
  );
  if (!registration || registration.state === "refused") return {};
  const { effect, processId, before } = given;
  if (registration.state !== "answered" || before === undefined) return { isLeft: true };
  await setAddresses(context, effect, { processId, emails: before }, asProtocol);
  return {};
}
