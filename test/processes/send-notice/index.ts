// What sendNotice brings to the generators of tests.
import type { Brought } from "../brought.js";
import { noticeInput } from "./inputs.js";
import { sendNoticeUnderTest } from "./under-test.js";

export const brought: Brought = {
  underTest: sendNoticeUnderTest,
  paths: async () => (await import("./paths.js")).sendNoticePaths,
  example: "notice.json",
  input: (intent) => noticeInput(intent, "read"),
};
