// Shared by every process with a one-time password: time limits, and the answers of its updates (docs/design.md §2;
// docs/reading-the-specification.md §5).
import { z } from "zod";
import { answer, notAwaited, unavailable, update } from "../definition/message-contract.js";
import { awaitOtp, resendOtp, submitOtp } from "./messages.js";
import { DAY_SECONDS } from "../definition/process-contract.js";
import { seconds } from "./communication.js";
import { Instant } from "./values.js";

/** A holder or signer enters at most so many characters. */
export const MAX_CODE_LENGTH = 100;

/** Missing values come from the configuration and stay the same for the run. */
export const otpSettings = {
  holderDeadlineSeconds: seconds
    .min(1)
    .optional()
    .describe(
      "Seconds from the first code that the holder or signer may take; then the outcome is `expired`.",
    ),
  otpTries: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe("How many wrong codes may be entered until a new code has to be sent."),
  otpResends: z.int().min(0).max(100).optional().describe("How often a code may be sent again."),
  resendSpacingSeconds: z
    .int()
    .min(0)
    .max(86_400)
    .optional()
    .describe("The least number of seconds between two codes."),
  answerSeconds: z
    .int()
    .min(3)
    .max(18)
    .optional()
    .describe("The longest time in seconds until an update answers, 3 to 18."),
};

/** All in seconds but the counts. */
export const otpDefaults = {
  holderDeadlineSeconds: { value: 7 * DAY_SECONDS, least: 1 },
  otpTries: { value: 5, least: 1 },
  otpResends: { value: 3 },
  resendSpacingSeconds: { value: 60 },
  answerSeconds: { value: 15, least: 3, most: 18 },
};

const providerCode = z.string().exactOptional().describe("The provider's code for its refusal.");
const resendsLeft = z.int().min(0).describe("How often a code may still be sent again.");
const triesLeft = z
  .int()
  .min(0)
  .describe("How many wrong codes may still be entered, by Trustflow's own count.");
const notCode = "must be the code that the holder received";

export const otpUpdates = {
  submitOtp: update(submitOtp, {
    description:
      "The code that the holder or signer entered. The same update id is one try (P1 §4.1, 4.4).",
    argument: z.strictObject({
      code: z
        .string()
        .min(1, notCode)
        .refine((code) => code.trim() !== "" && code.length <= MAX_CODE_LENGTH, notCode)
        .meta({ writeOnly: true })
        .describe("The code as it was entered. Secret."),
    }),
    answer: z.union([
      answer({
        accepted: "the provider accepted the code",
        expired: "this code has expired, or the time of the holder has run out",
        locked: "no try is left: another code is needed, if one may still be sent",
        unavailable,
      }),
      answer({ wrong: "the provider says that the code is wrong" }, { triesLeft }),
      answer({ unknown: "whether the provider accepted the code is not known" }, { providerCode }),
    ]),
  }),
  resendOtp: update(resendOtp, {
    description: "Send the holder or signer another code. The same update id is one code.",
    answer: z.union([
      answer(
        {
          sent: "another code was sent",
          unknown: "a code may have been sent, which cannot be checked",
        },
        { resendsLeft },
      ),
      answer(
        { tooSoon: "the last code was sent too short a time ago" },
        { until: Instant.describe("From when on a code can be sent again.") },
      ),
      answer({ refused: "the provider refused, and no code was sent" }, { providerCode }),
      answer({
        limitReached: "no further code may be sent",
        expired: "a code was accepted already, or the time of the holder has run out",
        unavailable,
      }),
    ]),
  }),
  awaitOtp: update(awaitOtp, {
    description:
      "Wait at most 15 seconds until the first code is sent. It sends no code itself, so it may be asked again at any time.",
    answer: z.union([
      answer({ sent: "a code was sent, and the process waits for it" }, { triesLeft, resendsLeft }),
      answer({
        notYet: "no code is sent yet: the status says what comes before it; ask again",
        notAwaited,
      }),
    ]),
  }),
};

const Template = z.strictObject({
  templateId: z.string().min(1).describe("The provider's id of the template (P1 §2.3)."),
  language: z
    .string()
    .regex(/^[A-Za-z]{2}$/, "must be a language code of two letters")
    .describe("The language of the template, two letters (P1 §2.3)."),
});

/** P1 §2.3: how a code reaches its holder by SMS, with our text or by a template. */
export const SmsOptions = z.union([
  z.strictObject({
    textSMS: z
      .string()
      .refine((text) => text.includes("$OTP$"), "must contain $OTP$ (P1 §2.3)")
      .describe("The text of the message; the code is inserted at `$OTP$` (P1 §2.3)."),
  }),
  Template,
]);

/** P1 §2.3: by e-mail. */
export const EmailOptions = Template;
