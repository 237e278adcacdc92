// `serveNotice` sends a certified notice, and certified post to the same person if the notice is not served by a deadline (P2 §2.1–2.7,
// §3.1, §3.2, §4.1, §4.2; docs/decisions/0031).
import { z } from "zod";
import { SendNoticeInput, NoticeSettings, SendNoticeResult } from "../send-notice/contract.js";
import { PostalSettings, SendPostalInput, SendPostalResult } from "../send-postal/contract.js";
import { serveOutcomes, servedWhens } from "./states.js";
import { seconds } from "../shared/communication.js";
import { withRules } from "../shared/rules.js";
import type { Rule } from "../shared/rules.js";
import { ChildStatus, processResult, ProcessStatus } from "../shared/status.js";
import { AccountName, Instant } from "../shared/values.js";

/** The process itself waits for these; the settings of notice and post stand beside them. */
const spans = {
  /** From the start of the notice; if it is not served by then, the post goes out. */
  deadlineSeconds: seconds.min(1).optional(),
  /** How often the process looks at the notice and at the post; their ends are seen at once. */
  lookIntervalSeconds: seconds.min(1).optional(),
};
/** As resolved: the caller's spans over the configured ones. */
export type ServeSettings = Record<keyof typeof spans, number>;

const ServeNoticeFields = z.strictObject({
  /** The account needs keys for certified notices and for certified post. */
  account: AccountName.optional(),
  notice: SendNoticeInput,
  post: SendPostalInput,
  /** From which state on the notice is served; default: `read`. */
  servedWhen: z.enum(servedWhens).optional(),
  settings: z
    .strictObject({
      ...spans,
      notice: NoticeSettings.optional(),
      post: PostalSettings.optional(),
    })
    .optional(),
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

export const ServeNoticeOutcome = z.enum(serveOutcomes);
export type ServeNoticeOutcome = z.infer<typeof ServeNoticeOutcome>;

export const ServeNoticeStatus = ProcessStatus.extend({
  children: z.array(ChildStatus).optional(),
});
export type ServeNoticeStatus = z.infer<typeof ServeNoticeStatus>;

/** When the process saw that the notice was served, and when it started the post. */
export const ServeDates = z.strictObject({
  noticeServedAt: Instant.optional(),
  escalatedAt: Instant.optional(),
});
export type ServeDates = z.infer<typeof ServeDates>;

/** `documents` are those of both, the notice's first. */
export const ServeNoticeResult = processResult({
  process: z.literal("serveNotice"),
  outcome: ServeNoticeOutcome,
  dates: ServeDates,
}).extend({
  /** Absent where the notice ended without a result, and an operator let the process go on. */
  notice: SendNoticeResult.omit({ timeline: true }).optional(),
  /** Absent where no post was started, or it ended without a result. */
  post: SendPostalResult.omit({ timeline: true }).optional(),
});
export type ServeNoticeResult = z.infer<typeof ServeNoticeResult>;
