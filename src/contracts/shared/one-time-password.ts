// What every process with a one-time password shares: its spans, and the answers of its updates (docs/design.md §2;
// docs/reading-the-specification.md §5).
import { z } from "zod";

const seconds = z
  .int()
  .min(1)
  .max(400 * 86_400);

/** Of a code that a holder or signer brings. */
export const longestCode = 100;

/** What is left out comes from the configuration and is fixed for the run. */
export const otpSettings = {
  /** How long the holder may take, from the first code on; then the outcome is `expired`. */
  holderDeadlineSeconds: seconds.optional(),
  /** How many wrong codes are taken until a new one has to be sent. */
  otpTries: z.int().min(1).max(100).optional(),
  /** How often a code may be sent again. */
  otpResends: z.int().min(0).max(100).optional(),
  /** The least time between two codes. */
  resendSpacingSeconds: z.int().min(0).max(86_400).optional(),
  /** How long an update may take to answer. */
  answerSeconds: z.int().min(3).max(18).optional(),
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
