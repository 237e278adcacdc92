import { SendMessageInput, SendMessageResult } from "./contract.js";
import { defineProcess } from "../definition/process-contract.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";

export const sendMessage = defineProcess({
  title: "Message",
  provider: "messaging-gateway",
  input: SendMessageInput,
  result: SendMessageResult,
  status: ProcessStatus,
  phases: [["submitting", "ended"]],
  updates: {},
  command: {
    summary: "send a message",
    details: "providerFields is the gateway's whole payload, passed on unchanged.",
    example: "trustflow send-message --input message.json --id order-7 --watch",
    notChecked: "the message itself: only the gateway knows its rules",
  },
});
