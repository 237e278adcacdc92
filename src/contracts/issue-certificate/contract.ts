// `issueCertificate` makes a disposable certificate from the holder's data, or from an eID assertion, to the validated one-time password
// (P1 §1.1, 2.1–2.6, 4.1).
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { Flag, processSettings } from "../shared/communication.js";
import { assertionPattern } from "./messages.js";
import { EmailOptions, otpSettings, SmsOptions } from "../shared/one-time-password.js";
import { withRules } from "../shared/rules.js";
import { processResult } from "../shared/status.js";
import { AccountName, CountryCode, EmailAddress, Instant, SecretString } from "../shared/values.js";
import { words } from "../shared/words.js";

const Text = z.string().min(1);
const Day = z.iso.date();
const E164 = z.string().regex(/^\+[1-9]\d{1,14}$/, "must be in E.164, as +34600000000");

/** P1 §2.1. Which members are mandatory is not shown: the provider says so by `checkData`. */
const DisposableHolder = z.strictObject({
  firstName: Text.optional()
    .describe("The given name.")
    .meta({ examples: ["Ada"] }),
  lastName: Text.optional()
    .describe("The family name.")
    .meta({ examples: ["Byron"] }),
  identificationType: Text.optional()
    .describe("The scheme of `identificationCode`; `ITALIAN_TAX_CODE` is one.")
    .meta({ examples: ["ITALIAN_TAX_CODE"] }),
  identificationCode: Text.optional()
    .describe("The identifier under that scheme.")
    .meta({ examples: ["BYRDAA90T50H501X"] }),
  identificationCountry: CountryCode.optional()
    .describe("The country of the identifier, ISO 3166-1 alpha-2.")
    .meta({ examples: ["IT"] }),
  birthDate: Day.optional()
    .describe("The date of birth.")
    .meta({ examples: ["1990-12-10"] }),
  birthCity: Text.optional()
    .describe("The city of birth.")
    .meta({ examples: ["Roma"] }),
});

const DisposableDoc = z.strictObject({
  documentType: Text.optional().describe("The kind of document; `CI` is one."),
  documentNr: Text.optional().describe("The number of the document."),
  documentIssuer: Text.optional().describe("The authority that issued the document."),
  documentIssuerDate: Day.optional().describe("The date of issue, as 2020-01-31."),
  documentIssuerCountry: CountryCode.optional().describe(
    "The country of issue, ISO 3166-1 alpha-2.",
  ),
  documentExpirationDate: Day.optional().describe("The last day of validity, as 2030-01-31."),
});

const holderSecrets = {
  password: SecretString.describe("A secret that the holder has chosen.").meta({
    examples: ["example-password"],
  }),
  securityCode: SecretString.describe("A second secret that the holder has chosen.").meta({
    examples: ["example-code"],
  }),
  type: Text.optional()
    .describe("The type of the certificate. Default: `DISPOSABLE`.")
    .meta({ examples: ["DISPOSABLE"] }),
};

const checking = processSettings({
  checkData: Flag.optional().describe(
    "Whether the data is checked before the enrolment. `false` leaves the optional check out (P1 §4.1 rule 1).",
  ),
  ...otpSettings,
  assertionDeadlineSeconds: otpSettings.holderDeadlineSeconds.describe(
    "Seconds that a fresh assertion is waited for after one was refused as expired or invalid (237, 239 of P1 §7.1).",
  ),
  assertionTries: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "How many assertions may be refused as invalid (239) until the process fails as `NotAccepted`.",
    ),
});

export type CertificateSettings = Resolved<typeof checking>;

const shared = { account: AccountName.optional(), settings: checking.optional() };

const mobile = E164.describe("The mobile number that gets the code, in E.164.").meta({
  examples: ["+390612345678"],
});
const smsOptions = SmsOptions.describe(
  "How the code is sent by SMS: a text, or a template and its language (P1 §2.3).",
).meta({ examples: [{ textSMS: "Your code is $OTP$" }] });

/** P1 §2.1. */
const DataFields = z.strictObject({
  ...shared,
  disposableHolder: DisposableHolder.describe(
    "The person (P1 §2.1). Which members are mandatory the provider says by its check.",
  ),
  disposableDoc: DisposableDoc.optional()
    .describe("The person's identity document (P1 §2.1).")
    .meta({
      examples: [
        {
          documentType: "CI",
          documentNr: "AX1234567",
          documentIssuer: "Comune di Roma",
          documentIssuerDate: "2020-01-01",
          documentIssuerCountry: "IT",
          documentExpirationDate: "2030-01-01",
        },
      ],
    }),
  disposableCertificate: z
    .strictObject({
      ...holderSecrets,
      otpType: z.enum(["SMS", "EMAIL"]).describe("How the holder gets the code (P1 §2.1)."),
    })
    .describe("What the certificate is made with (P1 §2.1)."),
  disposableContacts: z
    .strictObject({
      mobile: mobile.optional().describe("The mobile number in E.164; required for `SMS`."),
      email: EmailAddress.optional().describe(
        "The e-mail address; required for `EMAIL`, which has to be enabled for the authority (LRA).",
      ),
    })
    .describe("Where the code is sent (P1 §2.1)."),
  smsOptions: smsOptions
    .optional()
    .describe("Required for `SMS`: a text, or a template and its language (P1 §2.3)."),
  emailOptions: EmailOptions.optional().describe(
    "Required for `EMAIL`: the template of the mail and its language (P1 §2.3).",
  ),
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
}).describe(
  "The eID assertion: base64 of a JSON object with ten claims, among them a current `iat` (P1 §2.2). Secret.",
);

/** P1 §2.2. */
const FromAssertion = z.strictObject({
  ...shared,
  eidAssertionHolder: z
    .strictObject({
      country: CountryCode.describe("The country of the eID, ISO 3166-1 alpha-2."),
      eIDType: Text.describe("The scheme of the eID."),
      assertion: EidAssertion,
    })
    .describe("The person, as an eID states it (P1 §2.2)."),
  contacts: z.strictObject({ mobile }).describe("Where the code is sent (P1 §2.2)."),
  certificate: z
    .strictObject({
      ...holderSecrets,
      fullData: Flag.describe("Passed on; the specification does not say what it means (P1 §2.2)."),
      otpType: z
        .literal("SMS", {
          error: ({ input }) =>
            input === undefined
              ? undefined
              : "must be SMS: the only value with an eID assertion (P1 §2.2)",
        })
        .describe("`SMS` is the only way with an eID assertion (P1 §2.2)."),
    })
    .describe("What the certificate is made with (P1 §2.2)."),
  smsOptions,
});

export const IssueCertificateInput = z.union([FromData, FromAssertion]);
export type IssueCertificateInput = z.infer<typeof IssueCertificateInput>;
export type CertificateFromData = z.infer<typeof FromData>;
export type CertificateFromAssertion = z.infer<typeof FromAssertion>;

export const IssueCertificateResult = processResult({
  process: z.literal("issueCertificate"),
  outcome: words({
    issued: "the provider accepted the code",
    expired: "the holder did not enter an accepted code in time",
    locked: "no try and no further code is left",
  }),
  dates: z.strictObject({
    enrolledAt: Instant.optional().describe("When the provider took the enrolment."),
    validatedAt: Instant.optional().describe("When the provider accepted the code."),
  }),
}).extend({ otpsSent: z.int().min(0).describe("How many codes were sent.") });
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
