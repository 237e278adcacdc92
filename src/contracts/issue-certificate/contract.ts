// `issueCertificate` makes a disposable certificate from the holder's data, or from an eID assertion, to the validated one-time password
// (P1 §1.1, 2.1–2.6, 4.1).
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { assertionPattern } from "./messages.js";
import { EmailOptions, otpSettings, SmsOptions } from "../shared/one-time-password.js";
import { withRules } from "../shared/rules.js";
import { processResult, ProcessStatus } from "../shared/status.js";
import { AccountName, CountryCode, Instant, SecretString } from "../shared/values.js";

const Text = z.string().min(1);
const Day = z.iso.date();
const E164 = z.string().regex(/^\+[1-9]\d{1,14}$/, "must be in E.164, as +34600000000");

/** P1 §2.1. Which members are mandatory is not shown: the provider says so by `checkData`. */
const DisposableHolder = z.strictObject({
  firstName: Text.optional(),
  lastName: Text.optional(),
  identificationType: Text.optional(),
  identificationCode: Text.optional(),
  identificationCountry: CountryCode.optional(),
  birthDate: Day.optional(),
  birthCity: Text.optional(),
});

const DisposableDoc = z.strictObject({
  documentType: Text.optional(),
  documentNr: Text.optional(),
  documentIssuer: Text.optional(),
  documentIssuerDate: Day.optional(),
  documentIssuerCountry: CountryCode.optional(),
  documentExpirationDate: Day.optional(),
});

const holderSecrets = {
  password: SecretString,
  securityCode: SecretString,
  /** `DISPOSABLE` where it is left out. */
  type: Text.optional(),
};

const checking = z.strictObject({
  /** `false` leaves the optional check before the enrolment out (P1 §4.1 rule 1). */
  checkData: z.boolean().optional(),
  ...otpSettings,
  /** How long a fresh assertion is waited for after 237 or 239. */
  assertionDeadlineSeconds: otpSettings.holderDeadlineSeconds,
  /** How many assertions may be refused as invalid (239) before it is not accepted. */
  assertionTries: z.int().min(1).max(100).optional(),
});

export type CertificateSettings = Resolved<typeof checking>;

const shared = { account: AccountName.optional(), settings: checking.optional() };

/** P1 §2.1. */
const DataFields = z.strictObject({
  ...shared,
  disposableHolder: DisposableHolder,
  disposableDoc: DisposableDoc.optional(),
  disposableCertificate: z.strictObject({ ...holderSecrets, otpType: z.enum(["SMS", "EMAIL"]) }),
  disposableContacts: z.strictObject({ mobile: E164.optional(), email: z.email().optional() }),
  smsOptions: SmsOptions.optional(),
  emailOptions: EmailOptions.optional(),
});

const otpType = "disposableCertificate.otpType";
const FromData = withRules(DataFields, [
  {
    reads: [otpType, "disposableContacts"],
    check({ disposableCertificate: { otpType: by }, disposableContacts: contacts }, refuse) {
      const contact = by === "SMS" ? "mobile" : "email";
      if (contacts[contact] === undefined)
        refuse(`disposableContacts.${contact}`, `is required when otpType is ${by} (P1 §2.1)`);
    },
  },
  {
    reads: [otpType],
    check(input, refuse) {
      const by = input.disposableCertificate.otpType;
      const [needed, other] =
        by === "SMS"
          ? (["smsOptions", "emailOptions"] as const)
          : (["emailOptions", "smsOptions"] as const);
      if (input[needed] === undefined)
        refuse(needed, `is required when otpType is ${by} (P1 §2.3)`);
      if (input[other] !== undefined) refuse(other, `does not fit otpType ${by} (P1 §2.3)`);
    },
  },
]);

/** The claims that the decoded assertion carries (P1 §2.2). */
const claims = [
  "given_name",
  "family_name",
  "person_identifier",
  "birth_date",
  "doc_type",
  "country",
  "rp_name",
  "rp_id",
  "original_assertion",
  "iat",
];

/** Base64 of a JSON document with ten claims; how current its `iat` is, the provider decides (P1 §2.2). */
export const EidAssertion = SecretString.superRefine((assertion, context) => {
  const missing = missingClaims(assertion);
  if (missing === undefined) {
    context.addIssue({ code: "custom", message: "must be base64 of a JSON object (P1 §2.2)" });
  } else if (missing.length > 0) {
    const message = `lacks the claims ${missing.join(", ")} (P1 §2.2)`;
    context.addIssue({ code: "custom", message });
  }
});

/** P1 §2.2. */
const FromAssertion = z.strictObject({
  ...shared,
  eidAssertionHolder: z.strictObject({
    country: CountryCode,
    eIDType: Text,
    assertion: EidAssertion,
  }),
  contacts: z.strictObject({ mobile: E164 }),
  certificate: z.strictObject({
    ...holderSecrets,
    fullData: z.boolean(),
    otpType: z.literal("SMS", {
      error: ({ input }) =>
        input === undefined
          ? undefined
          : "must be SMS: the only value with an eID assertion (P1 §2.2)",
    }),
  }),
  smsOptions: SmsOptions,
});

export const IssueCertificateInput = z.union([FromData, FromAssertion]);
export type IssueCertificateInput = z.infer<typeof IssueCertificateInput>;
export type CertificateFromData = z.infer<typeof FromData>;
export type CertificateFromAssertion = z.infer<typeof FromAssertion>;

export const IssueCertificateStatus = ProcessStatus;

/** `issued`: the code was validated; `expired`: the holder's time ran out; `locked`: no code and no try is left. */
export const IssueCertificateResult = processResult({
  process: z.literal("issueCertificate"),
  outcome: z.enum(["issued", "expired", "locked"]),
  dates: z.strictObject({
    enrolledAt: Instant.optional(),
    validatedAt: Instant.optional(),
  }),
}).extend({ otpsSent: z.int().min(0) });
export type IssueCertificateResult = z.infer<typeof IssueCertificateResult>;

/** Returns undefined if the assertion is not base64 of a JSON object. */
function missingClaims(assertion: string): string[] | undefined {
  if (!assertionPattern.test(assertion)) return undefined;
  try {
    const value: unknown = JSON.parse(atob(assertion));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return claims.filter((claim) => !(claim in value));
  } catch {
    return undefined;
  }
}
