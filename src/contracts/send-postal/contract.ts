// `sendPostal` sends a certified postal communication and follows it from submit to close (P2 §2.1–2.5, §3.1, §4.1).
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { postalOutcomes } from "./states.js";
import {
  accessControl,
  belongsToProcess,
  challengeRule,
  seconds,
  trackingSpans,
} from "../shared/communication.js";
import { withRules } from "../shared/rules.js";
import type { Rule } from "../shared/rules.js";
import { processResult, ProcessStatus, said } from "../shared/status.js";
import { AccountName, CountryCode, DocumentInput, Instant, ownLimit } from "../shared/values.js";

const Text = z.string().min(1);
const years = z.int().min(0).max(100);

/** P2 §2.2. */
export const PostalAddress = z.strictObject({
  streetAddress: Text,
  postalCode: Text,
  locality: Text,
  region: Text.optional(),
  country: CountryCode,
  postOfficeBoxAddress: Text.optional(),
});
export type PostalAddress = z.infer<typeof PostalAddress>;

/** P2 §2.4. */
export const CustomField = z.strictObject({
  key: Text,
  label: Text,
  value: Text,
  isLookupKey: z.boolean().optional(),
});

/** P2 §2.3. Values whose availability depends on the account are checked by pattern only. */
export const PostalOptions = z.strictObject({
  postServiceType: z.enum(["Registered", "Letter", "LetterLite"]).optional(),
  postServiceProfile: Text.optional(),
  certificationLevel: z
    .string()
    .regex(/^[A-Za-z]+(_[A-Z]{2})?$/, "must look like Standard, Advanced or Standard_EU")
    .refine(
      (level) => !level.startsWith("QERDS"),
      "must not be a QERDS level: none is supported for postal (P2 §2.3)",
    )
    .optional(),
  affidavitProfile: z
    .enum([
      "None",
      "Basic",
      "AdvancedContentOnSubmit",
      "AdvancedContentOnClose",
      "AdvancedContentOnSubmitAndOnClose",
    ])
    .optional(),
  affidavitsOnDemandEnabled: z.boolean().optional(),
  onlineRetentionPeriod: years.optional(),
  notaryRetentionPeriod: years.optional(),
  notaryProfile: Text.optional(),
  ...accessControl,
  costCentre: Text.optional(),
  customFields: z
    .array(CustomField)
    .max(...ownLimit(50))
    .optional(),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$/, "must be a language tag such as es or pt-BR")
    .optional(),
  enableDeliveryReceipt: z.boolean().optional(),
  enableDeliveryAttempts: z.boolean().optional(),
  deliveryAttemptsNumber: z.int().positive().optional(),
  disposalDaysAmmount: z.int().positive().optional(),
  pushNotificationUrl: belongsToProcess,
  pushNotificationFilter: belongsToProcess,
  pushNotificationExtraData: belongsToProcess,
});
export type PostalOptions = z.infer<typeof PostalOptions>;

export const PostalSettings = z.strictObject({
  ...trackingSpans,
  /** How long `Cancelled` or `Disposed` may stand without `Closed` before it is the end. */
  restingGraceSeconds: seconds.optional(),
});
export type PostalSettings = Resolved<typeof PostalSettings>;

const SendPostalFields = z.strictObject({
  account: AccountName.optional(),
  document: DocumentInput,
  recipientAddress: PostalAddress,
  recipientName: Text.optional(),
  recipientLegalName: Text.optional(),
  recipientPhone: Text.optional(),
  recipientEmail: Text.optional(),
  issuerName: Text.optional(),
  issuerLegalName: Text.optional(),
  issuerAddress: PostalAddress.optional(),
  issuerPhone: Text.optional(),
  issuerEmail: Text.optional(),
  issuerComments: Text.optional(),
  lookupKey: Text.optional(),
  options: PostalOptions.optional(),
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
export const PostalOutcome = z.enum([
  ...postalOutcomes,
  "openAtDeadline",
  "cancelledBeforeSubmit",
  "other",
]);
export type PostalOutcome = z.infer<typeof PostalOutcome>;

export const SendPostalStatus = ProcessStatus;
export type SendPostalStatus = ProcessStatus;

/** The provider gave these dates (P2 §2.5). */
export const PostalDates = z.strictObject({
  creationDate: Instant.optional(),
  submittedOn: Instant.optional(),
  processedOn: Instant.optional(),
  sentOn: Instant.optional(),
  stateDate: Instant.optional(),
  lastStateChangeDate: Instant.optional(),
  outcomeDate: Instant.optional(),
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
  includeDocument: z.boolean().optional(),
  includeEvents: z.boolean().optional(),
});
export type PostalAffidavitRequest = z.infer<typeof PostalAffidavitRequest>;
