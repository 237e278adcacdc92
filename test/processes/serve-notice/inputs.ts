// A notice and the post that follows it, for tests: one intent for both, and the sandbox's magic words for each (docs/sandbox/scenarios.md).
import type { ServeNoticeInput } from "../../../src/client.js";
import { fastSettings as noticeSettings, noticeInput } from "../send-notice/inputs.js";
import { fastSettings as postalSettings, letterInput } from "../send-postal/inputs.js";

/** An input whose intent is the `lookupKey` of both. `words`: of the notice and, behind a slash, of the post. */
export function serveInput(
  intent: string,
  words: string,
  more: Partial<ServeNoticeInput> = {},
): ServeNoticeInput {
  const [forNotice = "", forPost = "delivered"] = words.split("/");
  const { settings: _, ...notice } = noticeInput(intent, forNotice);
  const { settings: __, ...post } = letterInput(intent, forPost);
  return { notice, post, settings: fastSettings, ...more };
}

/** Days of the sandbox pass in seconds, so the spans of a test are seconds. */
export const fastSettings = {
  lookIntervalSeconds: 1,
  notice: noticeSettings,
  post: postalSettings,
} satisfies ServeNoticeInput["settings"];
