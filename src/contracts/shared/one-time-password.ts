// Shared by every process with a one-time password: time limits, and the answers of its updates (docs/design.md §2;
// docs/reading-the-specification.md §5).
import { z } from "zod";
import { answer, update } from "../definition/message-contract.js";
import { resendOtp, submitOtp } from "./messages.js";
import { DAY_SECONDS } from "../definition/process-contract.js";
import { seconds } from "./communication.js";
import { Instant } from "./values.js";

/** A holder or signer enters at most so many characters. */
export const MAX_CODE_LENGTH = 100;

/** Missing values come from the configuration and stay the same for the run. */
export const otpSettings = {
  /** How long the holder may take, from the first code; then the outcome is `expired`. */
  holderDeadlineSeconds: seconds.min(1).optional(),
  /** How many wrong codes are accepted until a new code must be sent. */
  otpTries: z.int().min(1).max(100).optional(),
  /** How often a code may be sent again. */
  otpResends: z.int().min(0).max(100).optional(),
  /** The least time between two codes. */
  resendSpacingSeconds: z.int().min(0).max(86_400).optional(),
  /** How long an update may take to answer. */
  answerSeconds: z.int().min(3).max(18).optional(),
};

/** All in seconds but the counts. */
export const otpDefaults = {
  /** How long the holder may take, from the first code on. */
  holderDeadlineSeconds: { value: 7 * DAY_SECONDS, least: 1 },
  /** Wrong codes until a new one has to be sent. */
  otpTries: { value: 5, least: 1 },
  /** How often a code is sent again. */
  otpResends: { value: 3 },
  resendSpacingSeconds: { value: 60 },
  /** The longest time until `submitOtp` and the similar updates answer. */
  answerSeconds: { value: 15, least: 3, most: 18 },
};

const count = z.int().min(0);
const notCode = "must be the code that the holder received";

export const otpUpdates = {
  /** The code that the holder entered. The same `updateId` is one try. */
  submitOtp: update(submitOtp, {
    description: "The code that the holder or signer entered.",
    argument: z.strictObject({
      code: z
        .string()
        .min(1, notCode)
        .refine((code) => code.trim() !== "" && code.length <= MAX_CODE_LENGTH, notCode)
        .meta({ writeOnly: true }),
    }),
    answer: z.union([
      answer("accepted", "expired", "locked", "unavailable"),
      z.strictObject({ answer: z.literal("wrong"), triesLeft: count }),
      z.strictObject({ answer: z.literal("unknown"), providerCode: z.string().exactOptional() }),
    ]),
  }),
  /** Another code for the holder. The same `updateId` is one code. */
  resendOtp: update(resendOtp, {
    description: "Send the holder or signer another code.",
    answer: z.union([
      z.strictObject({ answer: z.enum(["sent", "unknown"]), resendsLeft: count }),
      z.strictObject({ answer: z.literal("tooSoon"), until: Instant }),
      z.strictObject({ answer: z.literal("refused"), providerCode: z.string().exactOptional() }),
      answer("limitReached", "expired", "unavailable"),
    ]),
  }),
};

const Template = z.strictObject({
  templateId: z.string().min(1),
  language: z.string().regex(/^[A-Za-z]{2}$/, "must be a language code of two letters"),
});

/** P1 §2.3: how a code reaches its holder by SMS, with our text or by a template. */
export const SmsOptions = z.union([
  z.strictObject({
    textSMS: z.string().refine((text) => text.includes("$OTP$"), "must contain $OTP$ (P1 §2.3)"),
  }),
  Template,
]);

/** P1 §2.3: by e-mail. */
export const EmailOptions = Template;
