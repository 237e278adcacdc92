// What serveNotice brings to the generators of tests.
import type { Brought } from "../brought.js";
import { serveInput } from "./inputs.js";
import { serveNoticeUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: serveNoticeUnderTest,
  paths: async () => (await import("./paths.js")).serveNoticePaths,
  example: "serve.json",
  input: (intent) => serveInput(intent, "read"),
};
