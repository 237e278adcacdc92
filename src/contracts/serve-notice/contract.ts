// `serveNotice` sends a certified notice, and certified post to the same person if the notice is not served by a deadline (P2 §2.1–2.7,
// §3.1, §3.2, §4.1, §4.2; docs/decisions/0031).
import { z } from "zod";
import { SendNoticeInput, NoticeSettings, SendNoticeResult } from "../send-notice/contract.js";
import { PostalSettings, SendPostalInput, SendPostalResult } from "../send-postal/contract.js";
import { servedWhens } from "./states.js";
import { seconds, processSettings } from "../shared/communication.js";
import { withRules } from "../shared/rules.js";
import type { Rule } from "../shared/rules.js";
import { ChildStatus, processResult, ProcessStatus } from "../shared/status.js";
import { AccountName, Instant } from "../shared/values.js";
import { words } from "../shared/words.js";

/** The process itself waits for these; the settings of notice and post stand beside them. */
const spans = {
  deadlineSeconds: seconds
    .min(1)
    .optional()
    .describe(
      "Seconds from the start of the notice; if it is not served by then, the post goes out.",
    ),
  lookIntervalSeconds: seconds
    .min(1)
    .optional()
    .describe(
      "Seconds between two looks at the notice and at the post; their ends are seen at once.",
    ),
};
/** As resolved: the caller's spans over the configured ones. */
export type ServeSettings = Record<keyof typeof spans, number>;

const ServeNoticeFields = z.strictObject({
  account: AccountName.optional().describe(
    "The configured account, which needs keys for certified notices and for certified post. Default: `default`.",
  ),
  notice: SendNoticeInput.describe("The input of `sendNotice`, without `account` and `settings`."),
  post: SendPostalInput.describe("The input of `sendPostal`, without `account` and `settings`."),
  servedWhen: z
    .enum(servedWhens)
    .optional()
    .describe("From which state of the notice on it counts as served. Default: `read`."),
  settings: processSettings({
    ...spans,
    notice: NoticeSettings.optional().describe("The settings of `sendNotice`."),
    post: PostalSettings.optional().describe("The settings of `sendPostal`."),
  }).optional(),
});
type Fields = z.infer<typeof ServeNoticeFields>;

const ours = ["account", "settings"] as const;

/** One account for both, so that a second start compares it once; settings in one place, because no comparison reads them. */
const isSaidOnce = (part: "notice" | "post"): Rule<Fields> => ({
  reads: [part],
  check(input, refuse) {
    for (const name of ours) {
      const place = name === "account" ? "account" : `settings.${part}`;
      if (input[part][name] !== undefined)
        refuse(`${part}.${name}`, `must be left out: it stands in ${place}`);
    }
  },
});

export const ServeNoticeInput = withRules(ServeNoticeFields, [
  isSaidOnce("notice"),
  isSaidOnce("post"),
]);
export type ServeNoticeInput = z.infer<typeof ServeNoticeInput>;

export const ServeNoticeOutcome = words({
  servedByNotice: "the notice was served, and no post was delivered",
  servedByPost: "the post was delivered",
  servedByBoth: "the notice was served, and the post was delivered too",
  notServed: "neither was served",
  cancelledBeforeSubmit: "cancelled before anything was sent",
  openAtDeadline:
    "neither was served, and the last one that was sent is still open at its own deadline",
});
export const serveOutcomes = ServeNoticeOutcome.options;
export type ServeNoticeOutcome = z.infer<typeof ServeNoticeOutcome>;

export const ServeNoticeStatus = ProcessStatus.extend({
  children: z
    .array(ChildStatus)
    .optional()
    .describe("The notice and the post, as the process saw them last."),
});
export type ServeNoticeStatus = z.infer<typeof ServeNoticeStatus>;

export const ServeDates = z.strictObject({
  noticeServedAt: Instant.optional().describe("When the process saw that the notice was served."),
  escalatedAt: Instant.optional().describe("When the process started the post."),
});
export type ServeDates = z.infer<typeof ServeDates>;

/** `documents` are those of both, the notice's first. */
export const ServeNoticeResult = processResult({
  process: z.literal("serveNotice"),
  outcome: ServeNoticeOutcome,
  dates: ServeDates,
}).extend({
  notice: SendNoticeResult.omit({ timeline: true })
    .optional()
    .describe(
      "The result of `sendNotice`, without its timeline; absent if it ended without one, and an operator let the process go on.",
    ),
  post: SendPostalResult.omit({ timeline: true })
    .optional()
    .describe(
      "The result of `sendPostal`, without its timeline; absent if none was started, or it ended without one.",
    ),
});
export type ServeNoticeResult = z.infer<typeof ServeNoticeResult>;
