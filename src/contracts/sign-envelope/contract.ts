// `signEnvelope` has a one-shot certificate sign documents in an envelope, over two hosts (P1 §1.5, 2.10, 4.5). Of the three requests only
// a few names are shown: the rest is the caller's, in `providerFields`.
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { processSettings } from "../shared/communication.js";
import { documentNamesDiffer, withRules } from "../shared/rules.js";
import { processResult } from "../shared/status.js";
import {
  AccountName,
  DocumentInput,
  FileName,
  Instant,
  ownLimit,
  ProviderFields,
} from "../shared/values.js";
import { words } from "../shared/words.js";

const providerFieldsBut = (...reserved: string[]) =>
  ProviderFields.superRefine((fields, context) => {
    for (const key of reserved.filter((key) => key in fields)) {
      const message = "must be left out: the process sets it (P1 §2.10)";
      context.addIssue({ code: "custom", path: [key], message });
    }
  });

const EnvelopeDocument = z.strictObject({
  name: FileName.describe("The file name, as the signer may see it.").meta({
    examples: ["agreement.pdf"],
  }),
  document: DocumentInput,
  providerFields: providerFieldsBut("FileId", "DocumentNumber")
    .optional()
    .describe("Further members of the document in the envelope, beside its `FileId` (P1 §2.10)."),
});

const EnvelopeOptions = processSettings({
  uploadsAtOnce: z
    .int()
    .min(1)
    .max(50)
    .optional()
    .describe("How many documents are uploaded at the same time."),
});
export type EnvelopeSettings = Resolved<typeof EnvelopeOptions>;

const EnvelopeFields = z.strictObject({
  account: AccountName.optional(),
  request: z
    .strictObject({
      providerFields: ProviderFields.describe(
        "The whole request, which P1 §2.10 does not show; passed on unchanged.",
      ),
    })
    .describe("The request of the certificate (P1 §4.5 step 1)."),
  documents: z
    .array(EnvelopeDocument)
    .min(1)
    .max(...ownLimit(50))
    .describe("The documents to sign, in the order of the envelope; 1 to 50."),
  envelope: z
    .strictObject({
      providerFields: providerFieldsBut("Documents", "Activities")
        .optional()
        .describe("Members of the envelope beside its documents and its Sign activity."),
    })
    .optional()
    .describe("The envelope (P1 §2.10, §4.5 step 3)."),
  settings: EnvelopeOptions.optional(),
});

export const SignEnvelopeInput = withRules(EnvelopeFields, [documentNamesDiffer]);
export type SignEnvelopeInput = z.infer<typeof SignEnvelopeInput>;

/** No status call is shown, so the outcome says no more than that the envelope was sent (docs/reading-the-specification.md §7). */
export const SignEnvelopeResult = processResult({
  process: z.literal("signEnvelope"),
  outcome: words({ sent: "the provider took the envelope; it reports no later status" }),
  dates: z.strictObject({
    requestedAt: Instant.optional().describe("When the certificate was requested."),
    sentAt: Instant.optional().describe("When the envelope was sent."),
  }),
});
export type SignEnvelopeResult = z.infer<typeof SignEnvelopeResult>;
