// One message through the messaging gateway; the provider reports no later status (P1 §1.3, 4.3; docs/reading-the-specification.md §7).
import type { MessageSent } from "../../activities/messaging-gateway/index.js";
import type { SendMessageInput, SendMessageResult } from "../../contracts/send-message/contract.js";
import { plainView } from "../runtime/event-log.js";
import { Flow, run } from "../runtime/flow.js";
import { effectStep, stepsOf } from "../runtime/steps.js";

/** The payload is not shown: these are the names that a reference or a recipient probably has in it (docs/assumptions.md). */
const SOUGHT_NAMES = /^(\w{0,40}(reference|recipient)\w{0,40}|to)$/i;
const MAX_SOUGHT_MEMBERS = 5;

export async function sendMessage(input: SendMessageInput): Promise<SendMessageResult> {
  const flow = new Flow(plainView);
  const step = stepsOf(flow, "messaging-gateway");
  let sent: MessageSent | undefined;
  flow.lifecycle.askBeforeCancelling("send");

  const main = async () => {
    const lookFor = () => soughtIn(input.providerFields);
    sent = await step(effectStep("send", "Send the message", { lookFor }), (gateway, call) =>
      gateway.send({ ...call, input }),
    );
    flow.status.identify(sent);
    flow.log.note("Message accepted");
    flow.status.ownOutcome = "accepted";
  };

  const result = (): SendMessageResult => ({
    ...flow.result("sendMessage"),
    outcome: "accepted",
    dates: {},
    providerAnswer: sent?.answer,
  });
  return run({ flow, main, result });
}

function soughtIn(fields: object): Record<string, string> {
  const found = Object.entries(fields).filter(
    ([name, value]) => SOUGHT_NAMES.test(name) && /string|number/.test(typeof value),
  );
  const shown = found.slice(0, MAX_SOUGHT_MEMBERS);
  return Object.fromEntries(shown.map(([name, value]) => [name, String(value)]));
}
