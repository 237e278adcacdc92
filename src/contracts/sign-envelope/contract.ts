// `signEnvelope` has a one-shot certificate sign documents in an envelope, over two hosts (P1 §1.5, 2.10, 4.5). Of the three requests only
// a few names are shown: the rest is the caller's, in `providerFields`.
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { documentNamesDiffer, withRules } from "../shared/rules.js";
import { processResult, ProcessStatus } from "../shared/status.js";
import {
  AccountName,
  DocumentInput,
  FileName,
  Instant,
  ownLimit,
  ProviderFields,
} from "../shared/values.js";

/** Refuses the members that the process writes itself. */
const providerFieldsBut = (...reserved: string[]) =>
  ProviderFields.superRefine((fields, context) => {
    for (const key of reserved.filter((key) => key in fields)) {
      const message = "must be left out: the process sets it (P1 §2.10)";
      context.addIssue({ code: "custom", path: [key], message });
    }
  });

const EnvelopeDocument = z.strictObject({
  /** The file's, as the signer may see it. */
  name: FileName,
  document: DocumentInput,
  /** Beside its `FileId` in the envelope. */
  providerFields: providerFieldsBut("FileId", "DocumentNumber").optional(),
});

const Settings = z.strictObject({
  /** How many documents are uploaded at the same time. */
  uploadsAtOnce: z.int().min(1).max(50).optional(),
});
export type EnvelopeSettings = Resolved<typeof Settings>;

const EnvelopeFields = z.strictObject({
  account: AccountName.optional(),
  /** The whole certificate request, untouched. */
  request: z.strictObject({ providerFields: ProviderFields }),
  /** In the order in which they stand in the envelope. */
  documents: z
    .array(EnvelopeDocument)
    .min(1)
    .max(...ownLimit(50)),
  /** The envelope has it beside its documents and its one Sign activity. */
  envelope: z
    .strictObject({ providerFields: providerFieldsBut("Documents", "Activities").optional() })
    .optional(),
  settings: Settings.optional(),
});

export const SignEnvelopeInput = withRules(EnvelopeFields, [documentNamesDiffer]);
export type SignEnvelopeInput = z.infer<typeof SignEnvelopeInput>;

export const SignEnvelopeStatus = ProcessStatus;

/** No status call is shown, so the outcome says no more than that the envelope was sent (docs/reading-the-specification.md §7). */
export const SignEnvelopeResult = processResult({
  process: z.literal("signEnvelope"),
  outcome: z.literal("sent"),
  dates: z.strictObject({ requestedAt: Instant.optional(), sentAt: Instant.optional() }),
});
export type SignEnvelopeResult = z.infer<typeof SignEnvelopeResult>;
