import { z } from "zod";
import { ServeNoticeInput, ServeNoticeResult, ServeNoticeStatus } from "./contract.js";
import type { ServeSettings } from "./contract.js";
import { answer, decider, unavailable, update } from "../definition/message-contract.js";
import { DAY_SECONDS, defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { cancelServing } from "./messages.js";
import { serveChildren } from "./states.js";

export * from "./contract.js";
export * from "./messages.js";
export * from "./states.js";

export const serveNotice = defineProcess({
  title: "Certified notice, else certified post",
  provider: "evi-notice",
  input: ServeNoticeInput,
  result: ServeNoticeResult,
  status: ServeNoticeStatus,
  phases: [["submitting", "tracking", "ended"]],
  children: serveChildren,
  /** All in seconds. */
  defaults: {
    deadlineSeconds: { value: 10 * DAY_SECONDS, least: 1 },
    lookIntervalSeconds: { value: 300, least: 1 },
  } satisfies DefaultsFor<ServeSettings>,
  updates: {
    cancel: update(cancelServing, {
      description:
        "Start no post. A notice that was started is followed to its end; the post has its own update. The argument is optional.",
      argument: z.strictObject(decider),
      answer: answer(
        {
          cancelled:
            "no post will be started; if the notice was not started either, the process ends, else it follows the notice to its end",
          tooLate: "the post was started",
          unavailable,
        },
        {
          child: z
            .string()
            .exactOptional()
            .describe(
              "With `tooLate`: the id of the post, where its own `cancel` may still be in time.",
            ),
        },
      ),
      decides: true,
    }),
  },
  command: {
    summary: "send a certified notice, and certified post if it is not served in time",
    details: `The document of the post and each attachment of the notice may also be { "path": "letter.pdf" }, relative to the input file; the command stores the files in the document store.`,
    example:
      "trustflow serve-notice --input serve.json --id order-7 --watch\ntrustflow serve-notice --input serve.json --dry-run",
    notChecked:
      "what the account may use at both services: the notice's at its submit, and the post's only if it goes out",
  },
});
