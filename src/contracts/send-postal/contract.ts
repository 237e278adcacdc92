// `sendPostal` sends a certified postal communication and follows it from submit to close (P2 §2.1–2.5, §3.1, §4.1).
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import type { postalOutcomes } from "./states.js";
import {
  Flag,
  accessControl,
  callbackMembers,
  challengeRule,
  seconds,
  processSettings,
  trackingSpans,
} from "../shared/communication.js";
import { withRules } from "../shared/rules.js";
import type { Rule } from "../shared/rules.js";
import { processResult, said } from "../shared/status.js";
import { AccountName, CountryCode, DocumentInput, Instant, ownLimit } from "../shared/values.js";
import { words } from "../shared/words.js";

const Text = z.string().min(1);
const years = z.int().min(0).max(100);

/** P2 §2.2. */
export const PostalAddress = z.strictObject({
  streetAddress: Text.describe("Street name and number.").meta({ examples: ["Calle Mayor 1"] }),
  postalCode: Text.describe("The postal code.").meta({ examples: ["28013"] }),
  locality: Text.describe("City or town.").meta({ examples: ["Madrid"] }),
  region: Text.optional()
    .describe("Region or province; required of a recipient for `Registered`, which is the default.")
    .meta({ examples: ["Madrid"] }),
  country: CountryCode.describe("The country, ISO 3166-1 alpha-2.").meta({ examples: ["ES"] }),
  postOfficeBoxAddress: Text.optional().describe("The address of a post office box."),
});
export type PostalAddress = z.infer<typeof PostalAddress>;

/** P2 §2.4. */
export const CustomField = z.strictObject({
  key: Text.describe("The name of the field."),
  label: Text.describe("The name that people see."),
  value: Text.describe("The value."),
  isLookupKey: Flag.optional().describe(
    "With `true` the value is indexed, and stands in `lookupKey` of query results.",
  ),
});

/** P2 §2.3. Values whose availability depends on the account are checked by pattern only. */
export const PostalOptions = z.strictObject({
  postServiceType: words(
    {
      Registered: "the certified communication that equals a burofax",
      Letter: "printed and enveloped; needs `postServiceProfile`",
      LetterLite: "a printed certified letter with one delivery attempt, mainland Spain only",
    },
    "The service. Default: `Registered`.",
  ).optional(),
  postServiceProfile: Text.optional().describe(
    "The profile that support has provisioned; required for `Letter`, not used by the others.",
  ),
  certificationLevel: z
    .string()
    .regex(/^[A-Za-z]+(_[A-Z]{2})?$/, "must look like Standard, Advanced or Standard_EU")
    .refine(
      (level) => !level.startsWith("QERDS"),
      "must not be a QERDS level: none is supported for postal (P2 §2.3)",
    )
    .optional()
    .describe(
      "`Standard`, `Advanced` or a regional variant such as `Advanced_EU`. The account decides which ones there are.",
    ),
  affidavitProfile: z
    .enum([
      "None",
      "Basic",
      "AdvancedContentOnSubmit",
      "AdvancedContentOnClose",
      "AdvancedContentOnSubmitAndOnClose",
    ])
    .optional()
    .describe(
      "Which affidavits are made. Default: `Basic` for Standard, `AdvancedContentOnSubmit` for Advanced. It must agree with `certificationLevel`.",
    ),
  affidavitsOnDemandEnabled: Flag.optional().describe(
    "Whether the update `requestAffidavit` may be used; needs one of the three advanced content profiles.",
  ),
  onlineRetentionPeriod: years.optional().describe("Online retention in years. Default: 1."),
  notaryRetentionPeriod: years
    .optional()
    .describe("If set, notarial custody of 5 years applies; `0` disables it."),
  notaryProfile: Text.optional().describe(
    "The notary's identifier; required if `notaryRetentionPeriod` is above 0.",
  ),
  ...accessControl,
  costCentre: Text.optional().describe("Groups items for billing and reports."),
  customFields: z
    .array(CustomField)
    .max(...ownLimit(50))
    .optional()
    .describe("Fields of your own (P2 §2.4), at most 50."),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$/, "must be a language tag such as es or pt-BR")
    .optional()
    .describe(
      "The language of evidence and affidavits, such as `es`. Default: the language of the site.",
    ),
  enableDeliveryReceipt: Flag.optional().describe("`Letter` only: asks for a delivery receipt."),
  enableDeliveryAttempts: Flag.optional().describe("`Letter` only: tracks the delivery attempts."),
  deliveryAttemptsNumber: z
    .int()
    .positive()
    .optional()
    .describe("`Letter` only: how many delivery attempts are asked for."),
  disposalDaysAmmount: z
    .int()
    .positive()
    .optional()
    .describe("`Letter` only: days after which an undelivered item is disposed of."),
  ...callbackMembers,
});
export type PostalOptions = z.infer<typeof PostalOptions>;

export const PostalSettings = processSettings({
  ...trackingSpans,
  restingGraceSeconds: seconds
    .optional()
    .describe(
      "Seconds that `Cancelled` or `Disposed` may last without `Closed` until the process takes it as the end.",
    ),
});
export type PostalSettings = Resolved<typeof PostalSettings>;

const SendPostalFields = z.strictObject({
  account: AccountName.optional(),
  document: DocumentInput.describe(
    'The letter, a PDF (P2 §2.1). A stored document, or one inline up to 1 MB; the command line also takes a file: `{ "path": "letter.pdf" }`.',
  ),
  recipientAddress: PostalAddress.describe("Where the letter goes (P2 §2.2)."),
  recipientName: Text.optional()
    .describe("The name of the recipient.")
    .meta({ examples: ["Ada Byron"] }),
  recipientLegalName: Text.optional().describe("The legal name of the recipient."),
  recipientPhone: Text.optional().describe("The telephone number of the recipient."),
  recipientEmail: Text.optional().describe("The e-mail address of the recipient."),
  issuerName: Text.optional().describe("The name of the sender."),
  issuerLegalName: Text.optional().describe("The legal name of the sender."),
  issuerAddress: PostalAddress.optional().describe(
    "The address of the sender (P2 §2.2). For `Registered` a region is needed, here or in the account's site.",
  ),
  issuerPhone: Text.optional().describe("The telephone number of the sender."),
  issuerEmail: Text.optional().describe("The e-mail address of the sender."),
  issuerComments: Text.optional().describe("Comments of the sender."),
  lookupKey: Text.optional().describe(
    "Your own reference, by which the communication can be queried.",
  ),
  options: PostalOptions.optional().describe("How the letter is sent and certified (P2 §2.3)."),
  settings: PostalSettings.optional(),
});

type Fields = z.infer<typeof SendPostalFields>;

const letterOnly = [
  "enableDeliveryReceipt",
  "enableDeliveryAttempts",
  "deliveryAttemptsNumber",
  "disposalDaysAmmount",
] as const;

/** `%PDF-` as the first five bytes of a base64 text. */
const pdfInBase64 = /^JVBERi0/;

const serviceOf = ({ options }: Fields) => options?.postServiceType ?? "Registered";
const service = "options.postServiceType";
const isAdvanced = (profile?: string) => profile?.startsWith("Advanced") ?? false;

/** The conditional rules of P2 §2.1–2.3 that need no configuration (docs/reading-the-specification.md §2). */
const rules: Rule<Fields>[] = [
  {
    reads: ["document.mediaType"],
    check({ document }, refuse) {
      if (document.mediaType !== "application/pdf")
        refuse("document.mediaType", "must be application/pdf (P2 §2.1)");
    },
  },
  {
    reads: ["document.base64"],
    check({ document }, refuse) {
      if ("base64" in document && !pdfInBase64.test(document.base64))
        refuse("document.base64", "is not a PDF (P2 §2.1)");
    },
  },
  {
    reads: [service, "recipientAddress.region"],
    check(input, refuse) {
      if (serviceOf(input) === "Registered" && input.recipientAddress.region === undefined)
        refuse("recipientAddress.region", "is required for Registered (P2 §2.2)");
    },
  },
  {
    reads: [service, "options.postServiceProfile"],
    check(input, refuse) {
      if (serviceOf(input) === "Letter" && input.options?.postServiceProfile === undefined)
        refuse("options.postServiceProfile", "is required for Letter (P2 §2.3)");
    },
  },
  {
    reads: [service, "recipientAddress.country", "recipientAddress.postalCode"],
    check(input, refuse) {
      const { country, postalCode } = input.recipientAddress;
      if (serviceOf(input) !== "LetterLite") return;
      if (country !== "ES")
        refuse("recipientAddress.country", "must be ES for LetterLite (P2 §2.3)");
      else if (/^(07|35|38|51|52)/.test(postalCode.trim()))
        refuse(
          "recipientAddress.postalCode",
          "is outside mainland Spain, which is the only area of LetterLite (P2 §2.3)",
        );
    },
  },
  {
    reads: [service],
    check(input, refuse) {
      if (serviceOf(input) === "Letter") return;
      for (const option of letterOnly) {
        if (input.options?.[option] !== undefined)
          refuse(`options.${option}`, "is for Letter only (P2 §2.3)");
      }
    },
  },
  challengeRule("options.", "P2 §2.3", ({ options }) => options),
  {
    reads: ["options.notaryRetentionPeriod", "options.notaryProfile"],
    check({ options }, refuse) {
      if ((options?.notaryRetentionPeriod ?? 0) > 0 && options?.notaryProfile === undefined)
        refuse(
          "options.notaryProfile",
          "is required when notaryRetentionPeriod is above 0 (P2 §2.3)",
        );
    },
  },
  {
    reads: ["options.affidavitProfile", "options.certificationLevel"],
    check({ options }, refuse) {
      const { affidavitProfile: profile, certificationLevel: level = "" } = options ?? {};
      const isTooMuch = level.startsWith("Standard") && isAdvanced(profile);
      const isTooLittle = level.startsWith("Advanced") && profile === "Basic";
      if (isTooMuch || isTooLittle)
        refuse(
          "options.affidavitProfile",
          `does not agree with the certification level ${level} (P2 §2.3)`,
        );
    },
  },
  {
    reads: [
      "options.affidavitProfile",
      "options.affidavitsOnDemandEnabled",
      "options.certificationLevel",
    ],
    check({ options }, refuse) {
      const { affidavitProfile: profile, certificationLevel: level = "" } = options ?? {};
      if (options?.affidavitsOnDemandEnabled !== true) return;
      // Without a profile the one of the level applies; without a level too, the account decides.
      const isStandard = profile === undefined && level.startsWith("Standard");
      if (isStandard || (profile !== undefined && !isAdvanced(profile)))
        refuse(
          "options.affidavitsOnDemandEnabled",
          `needs an advanced content profile${isStandard ? `, and ${level} alone means Basic` : ""} (P2 §2.3)`,
        );
    },
  },
];

export const SendPostalInput = withRules(SendPostalFields, rules);
export type SendPostalInput = z.infer<typeof SendPostalInput>;

/** The last three are ours; the others are those of P2 §3.1 in camelCase. */
export const PostalOutcome = words({
  none: "no outcome yet",
  dispatched: "handed to the next stage of the delivery",
  sent: "accepted by the delivery channel; the end of a plain `Letter`",
  declined: "named by P2 §3.1, and never emitted",
  rejected: "the recipient refused it",
  acknowledged: "named by P2 §3.1, and never produced",
  hindered: "named by P2 §3.1, and never produced",
  undelivered: "not delivered",
  failed: "failed",
  delivered: "reached the recipient",
  disposed: "not delivered, and destroyed",
  cancelled: "cancelled at the provider",
  expired: "expired",
  openAtDeadline: "the deadline was reached, and the communication is still open",
  cancelledBeforeSubmit: "cancelled before anything was sent",
  other: "a word that Trustflow does not know; `providerOutcome` has it",
} satisfies Record<
  (typeof postalOutcomes)[number] | "openAtDeadline" | "cancelledBeforeSubmit" | "other",
  string
>);
export type PostalOutcome = z.infer<typeof PostalOutcome>;

/** The provider gave these dates (P2 §2.5). */
export const PostalDates = z.strictObject({
  creationDate: Instant.optional().describe("When it was created, as the provider says."),
  submittedOn: Instant.optional().describe("When it was submitted, as the provider says."),
  processedOn: Instant.optional().describe("When it was processed, as the provider says."),
  sentOn: Instant.optional().describe("When it was sent, as the provider says."),
  stateDate: Instant.optional().describe("The date of the state, as the provider says."),
  lastStateChangeDate: Instant.optional().describe(
    "When the state changed last, as the provider says.",
  ),
  outcomeDate: Instant.optional().describe("The date of the outcome, as the provider says."),
});
export type PostalDates = z.infer<typeof PostalDates>;

export const SendPostalResult = processResult({
  process: z.literal("sendPostal"),
  outcome: PostalOutcome,
  dates: PostalDates,
}).extend(said);
export type SendPostalResult = z.infer<typeof SendPostalResult>;

/** P2 §4.1. */
export const PostalAffidavitRequest = z.strictObject({
  includeDocument: Flag.optional().describe("Whether the affidavit has the document."),
  includeEvents: Flag.optional().describe("Whether the affidavit has the events."),
});
export type PostalAffidavitRequest = z.infer<typeof PostalAffidavitRequest>;
