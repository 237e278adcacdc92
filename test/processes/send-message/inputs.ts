// The inputs of `sendMessage`.
import type { SendMessageInput } from "../../../src/client.js";
import type { Stopped } from "../stopped.js";

/** `words`: what the sandbox's gateway is told to do. */
export function messageInput(
  intent: string,
  words = "",
  more: Partial<SendMessageInput> = {},
): SendMessageInput {
  const providerFields = {
    clientReference: intent,
    to: "+390612345678",
    text: "A message of a test",
    ...(words === "" ? {} : { sandbox: words }),
  };
  return { providerFields, ...more };
}

/** The call is cut before the provider processes it, which the process cannot know. */
export const lostMessage: Stopped<SendMessageInput> = {
  command: "send-message",
  example: "message.json",
  stopped: ({ providerFields }, id) => ({
    providerFields: { ...providerFields, clientReference: id, sandbox: "send=cut" },
  }),
};
