// What sendMessage brings to the generators of tests.
import type { Brought } from "../brought.js";
import { messageInput } from "./inputs.js";
import { sendMessageUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: sendMessageUnderTest,
  paths: async () => (await import("./paths.js")).sendMessagePaths,
  example: "message.json",
  input: (intent) => messageInput(intent),
};
