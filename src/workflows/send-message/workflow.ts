// One message through the messaging gateway; nothing tells what becomes of it (P1 §1.3, 4.3; docs/reading-the-specification.md §7).
import type { MessageSent, MessagingActivities } from "../../activities/messaging-gateway/index.js";
import type { SendMessageInput, SendMessageResult } from "../../contracts/send-message.js";
import { plainView } from "../runtime/plain-view.js";
import { Process } from "../runtime/process.js";
import { stepsOf } from "../runtime/steps.js";

export async function sendMessage(input: SendMessageInput): Promise<SendMessageResult> {
  const process = new Process(plainView);
  const step = stepsOf<MessagingActivities>(process, "messaging-gateway");
  let sent: MessageSent | undefined;
  process.askBeforeCancelling("send");

  const main = async () => {
    sent = await step(
      { name: "send", summary: "Send the message", journaled: true, happened: {} },
      (gateway, attempt) => gateway.send({ ...attempt, input }),
    );
    process.identify(sent);
    process.note({ source: "process", event: "Message accepted" });
    process.ownOutcome = "accepted";
  };

  return process.run(main, () => ({
    process: "sendMessage",
    id: process.id,
    outcome: "accepted",
    references: process.references,
    dates: {},
    documents: [],
    timeline: process.timeline,
    ...(sent?.answer === undefined ? {} : { providerAnswer: sent.answer }),
  }));
}
