// Sends one message, once (P1 §1.3, 4.3; docs/reading-the-specification.md §7).
import * as gateway from "../../providers/messaging-gateway/client.js";
import { comparedInput } from "../../contracts/definition/secret-fields.js";
import { SendMessageInput } from "../../contracts/send-message/contract.js";
import { contentOf } from "../../documents/content.js";
import { activitiesOf } from "../runtime/activity.js";
import type { StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import { ProviderContext } from "../runtime/provider-context.js";
import type { ProviderDependencies, Place } from "../runtime/provider-context.js";

export const provider = "messaging-gateway";

export interface MessageSent extends Place {
  /** Holds the gateway's answer, if that was JSON. */
  answer?: unknown;
}

export async function send(
  context: ProviderContext<typeof provider>,
  given: StepCall & { input: unknown },
): Promise<MessageSent> {
  const { account } = context;
  const input = context.parse(SendMessageInput, given.input);
  const sent = await runEffect(context, given.effect, {
    operation: "send",
    input: comparedInput(SendMessageInput, input, contentOf),
    // An operator's `happened` supplies no answer.
    send: ({ signal }): Promise<{ answer?: unknown } | undefined> =>
      gateway.send(account, input.providerFields, signal),
  });
  return { ...context.place, answer: sent?.answer };
}

export function createMessagingActivities(deps: ProviderDependencies<typeof provider>) {
  const activity = activitiesOf(provider, deps, ProviderContext);
  return { send: activity("send", send) };
}
