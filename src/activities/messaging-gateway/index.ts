// The activity of the messaging gateway: one message, one effect (P1 §1.3, 4.3; docs/reading-the-specification.md §7).
import { contentOf } from "../../documents/content.js";
import { SendMessageInput } from "../../contracts/send-message.js";
import { comparedInput } from "../../contracts/shared/compared-input.js";
import * as client from "../../providers/messaging-gateway/client.js";
import type { MessagingGatewayAccount } from "../../providers/messaging-gateway/client.js";
import { measured } from "../runtime/call-metrics.js";
import { parseInput } from "../runtime/input.js";
import { accountIn, Office } from "../runtime/provider-context.js";
import type { Attempt, OfficeDependencies } from "../runtime/provider-context.js";

const provider = "messaging-gateway";
const gateway = measured(provider, client);

export interface MessageSent {
  environment: string;
  account: string;
  /** What the gateway answered, where it was JSON. */
  answer?: unknown;
}

export function createMessagingActivities(
  dependencies: OfficeDependencies<MessagingGatewayAccount>,
) {
  const office = new Office<typeof provider, MessagingGatewayAccount>(provider, dependencies);
  return {
    send(given: Attempt & { input: unknown }): Promise<MessageSent> {
      const { effect, mode } = given;
      const name = accountIn(given.input);
      return office.run("send", name, mode, async (account) => {
        const input = parseInput(SendMessageInput, given.input);
        // A person's `happened` brings nothing.
        const sent = await office.perform<{ answer?: unknown } | undefined>(
          account,
          {
            reference: effect,
            operation: "send",
            input: comparedInput(SendMessageInput, input, contentOf),
            mode,
          },
          { send: ({ signal }) => gateway.send(account, input.providerFields, signal) },
        );
        const { environment } = office.has;
        return {
          environment,
          account: name,
          ...(sent?.answer === undefined ? {} : { answer: sent.answer }),
        };
      });
    },
  };
}

export type MessagingActivities = ReturnType<typeof createMessagingActivities>;
