// `sendMessage` as the harnesses take it.
import type { MessageHandle } from "../../../src/client.js";
import { messageInput } from "./inputs.js";
import { callsOf } from "../process-under-test.js";
import type { ProcessUnderTest } from "../process-under-test.js";

const provider = "messaging-gateway";

export const sendMessageUnderTest: ProcessUnderTest<MessageHandle> = {
  process: "sendMessage",
  provider,
  words: "",
  outcome: "accepted",
  effects: { [`${provider}.send`]: 1 },
  calls: callsOf<typeof provider, MessageHandle>(provider, {
    send: { activity: "send", outcome: "accepted", variant: {} },
  }),
  start(trustflow, id, { words = "", input } = {}) {
    return trustflow.sendMessage(id, messageInput(id, words, input));
  },
};
