// `serveNotice` as the harnesses take it: its calls are those of the two processes that it starts.
import type { HandleOf, ServeNoticeInput } from "../../../src/client.js";
import { effectClassOf } from "../../../src/providers/registry.js";
import type { ProcessUnderTest } from "../process-under-test.js";
import { serveInput } from "./inputs.js";

export const serveNoticeUnderTest: ProcessUnderTest<HandleOf<"serveNotice">> = {
  process: "serveNotice",
  provider: "evi-notice",
  words: "refused/delivered",
  outcome: "servedByPost",
  effects: { "evi-notice.submit": 1, "evi-post.submit": 1 },
  calls: [
    {
      operation: "submit",
      effectClass: effectClassOf("evi-notice", "submit"),
      sandbox: "evi-notice.submit",
      activity: "submit",
      variant: {},
      outcome: "servedByPost",
    },
    {
      operation: "submit-post",
      effectClass: effectClassOf("evi-post", "submit"),
      sandbox: "evi-post.submit",
      activity: "submit",
      // At the very start: what comes before it takes no time of the provider's.
      variant: { input: { settings: { deadlineSeconds: 1 } } },
      outcome: "servedByPost",
    },
  ],
  longWays: [
    { variant: { words: "sent/delivered-after-60-days" }, outcome: "servedByPost" },
    { variant: { words: "received/cancellable" }, outcome: "servedByPost" },
    { variant: { words: "open/missing" }, outcome: "servedByPost" },
  ],
  start(trustflow, id, { words = serveNoticeUnderTest.words, input } = {}) {
    const { settings, ...more }: Partial<ServeNoticeInput> = input ?? {};
    const served = serveInput(id, words, more);
    // A hundred of them at once look seldom: the ends of what they have started are seen at once.
    const seldom = { ...served.settings, lookIntervalSeconds: 5 };
    return trustflow.serveNotice(id, { ...served, settings: { ...seldom, ...settings } });
  },
};
