// One message through the messaging gateway; the provider reports no later status (P1 §1.3, 4.3; docs/reading-the-specification.md §7).
import type { MessageSent } from "../../activities/messaging-gateway/index.js";
import type { SendMessageInput, SendMessageResult } from "../../contracts/send-message/contract.js";
import { plainView } from "../runtime/plain-view.js";
import { Flow } from "../runtime/flow.js";
import { stepsOf } from "../runtime/steps.js";

export async function sendMessage(input: SendMessageInput): Promise<SendMessageResult> {
  const flow = new Flow(plainView);
  const step = stepsOf(flow, "messaging-gateway");
  let sent: MessageSent | undefined;
  flow.lifecycle.askBeforeCancelling("send");

  const main = async () => {
    sent = await step(
      { name: "send", summary: "Send the message", journaled: true, happened: {} },
      (gateway, call) => gateway.send({ ...call, input }),
    );
    flow.status.identify(sent);
    flow.log.note({ source: "process", event: "Message accepted" });
    flow.status.ownOutcome = "accepted";
  };

  return flow.lifecycle.run(main, () => ({
    process: "sendMessage",
    id: flow.status.id,
    outcome: "accepted",
    references: flow.status.references,
    dates: {},
    documents: [],
    timeline: flow.log.timeline,
    ...(sent?.answer === undefined ? {} : { providerAnswer: sent.answer }),
  }));
}
