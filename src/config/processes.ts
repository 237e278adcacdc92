// What applies to a process where its input says nothing; a caller's `settings` go over it.
import { z } from "zod";
import { flag, whole } from "./fields.js";

const day = 86_400;

/** The spans of `sendPostal` where its input says nothing; all in seconds. */
export const PostalDefaults = z.strictObject({
  affidavitWindowSeconds: whole().default(7 * day),
  deadlineSeconds: whole(1).default(120 * day),
  pollIntervalSeconds: whole(1).default(day / 4),
  askIntervalSeconds: whole(1).default(60),
  restingGraceSeconds: whole().default(3 * day),
});

/** Of everything that a holder or signer answers with a one-time password; all in seconds but the counts. */
const otp = {
  /** How long the holder may take, from the first code on. */
  holderDeadlineSeconds: whole(1).default(7 * day),
  /** Wrong codes until a new one has to be sent. */
  otpTries: whole(1).default(5),
  /** How often a code is sent again. */
  otpResends: whole().default(3),
  resendSpacingSeconds: whole().default(60),
  /** How long `submitOtp` and its like take to answer at the most. */
  answerSeconds: whole(3, 18).default(15),
};

export const OneShotDefaults = z.strictObject({
  ...otp,
  requireContractAccepted: flag().default(false),
  deadlineSeconds: whole(1).default(30 * day),
  pollIntervalSeconds: whole(1).default(day / 4),
  askIntervalSeconds: whole(1).default(60),
});

export const EnvelopeDefaults = z.strictObject({
  /** How many documents of an envelope are uploaded at the same time. */
  uploadsAtOnce: whole(1).default(5),
});

export const IssueCertificateDefaults = z.strictObject({
  /** Whether the data is checked before the enrolment (P1 §4.1 rule 1). */
  checkData: flag().default(true),
  ...otp,
  /** How long a fresh eID assertion is waited for after 237 or 239. */
  assertionDeadlineSeconds: whole(1).default(7 * day),
  /** How many assertions may be refused as invalid (239). */
  assertionTries: whole(1).default(3),
});
