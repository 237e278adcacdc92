// `signOneShot` follows a one-shot signature request from its creation to the signed documents, in its four variants (P1 §1.4, 2.9, 4.4).
// No request or response is shown: what the provider wants travels in `providerFields`.
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { Flag, askingSpans, processSettings } from "../shared/communication.js";
import { otpSettings } from "../shared/one-time-password.js";
import { documentNamesDiffer, withRules } from "../shared/rules.js";
import { processResult } from "../shared/status.js";
import {
  AccountName,
  DocumentInput,
  FileName,
  Instant,
  ownLimit,
  ProviderFields,
  Sha256,
} from "../shared/values.js";
import { words } from "../shared/words.js";

const name = FileName.describe("The file name.").meta({ examples: ["agreement.pdf"] });
const NamedDocument = z.strictObject({ name, document: DocumentInput });
/** In the variant `hash` the document need not leave the caller: its SHA-256 is enough. */
const NamedHash = z.strictObject({
  name,
  sha256: Sha256.describe(
    "The SHA-256 of the document in lower-case hex, for the variant `hash` alone: the document stays with the caller.",
  ),
});

const OneShotOptions = processSettings({
  ...otpSettings,
  requireContractAccepted: Flag.optional().describe(
    "Whether the code is sent only after the update `acceptContract` has accepted the contract.",
  ),
  ...askingSpans,
  deadlineSeconds: askingSpans.deadlineSeconds.describe(
    "Seconds for the approval of the video from the end of the uploads, and for the end of the signature from the signing; then the outcome is `openAtDeadline`.",
  ),
});
export type OneShotSettings = Resolved<typeof OneShotOptions>;

const OneShotFields = z.strictObject({
  account: AccountName.optional(),
  variant: words(
    {
      classic: "the documents are uploaded",
      hash: "a hash of each document is uploaded",
      asynchronous: "the end of the signature comes later",
      videoIdentification: "an identity video comes before the signature",
    },
    "The workflow of the service (P1 §1.4).",
  ),
  providerFields: ProviderFields.describe(
    "The whole request that creates the signature request, which P1 §2.9 does not show; passed on unchanged.",
  ),
  documents: z
    .array(z.union([NamedDocument, NamedHash]))
    .min(1)
    .max(...ownLimit(50))
    .describe("The documents to sign, 1 to 50."),
  identityVideo: z
    .strictObject({
      evidences: z
        .array(NamedDocument)
        .min(1)
        .max(...ownLimit(50))
        .describe(
          "The evidences of the identity, such as pictures of an identity document; 1 to 50.",
        ),
      video: NamedDocument.describe("The video."),
      providerFields: ProviderFields.optional().describe(
        "The request that creates the identity video, passed on unchanged.",
      ),
    })
    .optional()
    .describe("Required for `videoIdentification`, and for it alone (P1 §1.4)."),
  deleteDocuments: Flag.optional().describe(
    "Whether the documents are deleted at the provider, once all signed ones are kept and their copies are checked (P1 §1.4). Default: `false`.",
  ),
  settings: OneShotOptions.optional(),
});

export const SignOneShotInput = withRules(OneShotFields, [
  {
    reads: ["variant"],
    check({ variant, identityVideo }, refuse) {
      const hasVideo = identityVideo !== undefined;
      if (variant === "videoIdentification" && !hasVideo)
        refuse("identityVideo", "is required for videoIdentification (P1 §1.4)");
      if (variant !== "videoIdentification" && hasVideo)
        refuse("identityVideo", "is for videoIdentification only (P1 §1.4)");
    },
  },
  {
    reads: ["variant", "documents"],
    check({ variant, documents }, refuse, isRight) {
      for (const [index, file] of documents.entries()) {
        if (variant !== "hash" && isRight(`documents.${index}`) && "sha256" in file)
          refuse(`documents.${index}.sha256`, "is for the variant hash only (P1 §1.4)");
      }
    },
  },
  documentNamesDiffer,
]);
export type SignOneShotInput = z.infer<typeof SignOneShotInput>;

export const SignOneShotResult = processResult({
  process: z.literal("signOneShot"),
  outcome: words({
    signed: "the documents are signed",
    failed: "the provider reports that the signature failed",
    cancelled: "the request or its identity video was cancelled",
    contractRefused: "the caller did not accept the contract",
    expired: "no code was accepted in time, or nobody decided on the contract in time",
    locked: "no try and no further code is left",
    openAtDeadline: "the deadline was reached, and the request is still open",
    other: "a word that Trustflow does not know; `providerOutcome` has it",
  }),
  dates: z.strictObject({
    createdAt: Instant.optional().describe("When the request was created."),
    signedAt: Instant.optional().describe("When the documents were signed."),
  }),
}).extend({
  otpsSent: z.int().min(0).describe("How many codes were sent."),
  documentsDeleted: Flag.optional().describe(
    "With `deleteDocuments`: whether the documents were deleted at the provider.",
  ),
});
export type SignOneShotResult = z.infer<typeof SignOneShotResult>;
