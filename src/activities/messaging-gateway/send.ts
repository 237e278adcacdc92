// One message, one effect (P1 §1.3, 4.3; docs/reading-the-specification.md §7).
import { contentOf } from "../../documents/content.js";
import { SendMessageInput } from "../../contracts/send-message/contract.js";
import { comparedInput } from "../../contracts/definition/compared-input.js";
import * as gateway from "../../providers/messaging-gateway/client.js";
import type { StepCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import type { MessagingContext } from "./context.js";

export interface MessageSent {
  environment: string;
  account: string;
  /** What the gateway answered, where it was JSON. */
  answer?: unknown;
}

export async function send(
  context: MessagingContext,
  given: StepCall & { input: unknown },
): Promise<MessageSent> {
  const { account, deps } = context;
  const input = context.parse(SendMessageInput, given.input);
  const sent = await runEffect(context, given.effect, {
    operation: "send",
    input: comparedInput(SendMessageInput, input, contentOf),
    // An operator's `happened` supplies no answer.
    send: ({ signal }): Promise<{ answer?: unknown } | undefined> =>
      gateway.send(account, input.providerFields, signal),
  });
  return {
    environment: deps.environment,
    account: account.name,
    ...(sent?.answer === undefined ? {} : { answer: sent.answer }),
  };
}
