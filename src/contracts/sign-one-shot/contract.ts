// `signOneShot` follows a one-shot signature request from its creation to the signed documents, in its four variants (P1 §1.4, 2.9, 4.4).
// No request or response is shown: what the provider wants travels in `providerFields`.
import { z } from "zod";
import type { Resolved } from "../definition/process-contract.js";
import { askingSpans } from "../shared/communication.js";
import { otpSettings } from "../shared/one-time-password.js";
import { documentNamesDiffer, withRules } from "../shared/rules.js";
import { processResult, ProcessStatus } from "../shared/status.js";
import {
  AccountName,
  DocumentInput,
  FileName,
  Instant,
  ownLimit,
  ProviderFields,
  Sha256,
} from "../shared/values.js";

const NamedDocument = z.strictObject({ name: FileName, document: DocumentInput });
/** In the variant `hash` the document need not leave the caller: its SHA-256 is enough. */
const NamedHash = z.strictObject({ name: FileName, sha256: Sha256 });

const Settings = z.strictObject({
  ...otpSettings,
  /** The code is sent only once the caller has confirmed the contract (update `acceptContract`). */
  requireContractAccepted: z.boolean().optional(),
  /** The deadline counts from the end of the uploads for the video's approval, and from the signature for its end. */
  ...askingSpans,
});
export type OneShotSettings = Resolved<typeof Settings>;

const OneShotFields = z.strictObject({
  account: AccountName.optional(),
  /** P1 §1.4: the workflows of the service. */
  variant: z.enum(["classic", "hash", "asynchronous", "videoIdentification"]),
  /** It is the whole payload of the creation, untouched. */
  providerFields: ProviderFields,
  documents: z
    .array(z.union([NamedDocument, NamedHash]))
    .min(1)
    .max(...ownLimit(50)),
  /** P1 §1.4: what the identity video is made of. */
  identityVideo: z
    .strictObject({
      evidences: z
        .array(NamedDocument)
        .min(1)
        .max(...ownLimit(50)),
      video: NamedDocument,
      /** It is the payload of the video's creation, untouched. */
      providerFields: ProviderFields.optional(),
    })
    .optional(),
  /** Delete the documents at the provider once all signed ones are kept and their copies have been checked (P1 §1.4). */
  deleteDocuments: z.boolean().optional(),
  settings: Settings.optional(),
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

export const SignOneShotStatus = ProcessStatus;

/**
 * `signed`, `failed`, `cancelled`: the provider's, the last one also of its identity video; `contractRefused`: the caller did
 * not accept the contract; `expired`, `locked`: the signer did not answer in time, or with no code that was right.
 */
export const SignOneShotResult = processResult({
  process: z.literal("signOneShot"),
  outcome: z.enum([
    "signed",
    "failed",
    "cancelled",
    "contractRefused",
    "expired",
    "locked",
    "openAtDeadline",
    "other",
  ]),
  dates: z.strictObject({ createdAt: Instant.optional(), signedAt: Instant.optional() }),
}).extend({
  otpsSent: z.int().min(0),
  /** With `deleteDocuments`: whether the documents were deleted at the provider. */
  documentsDeleted: z.boolean().optional(),
});
export type SignOneShotResult = z.infer<typeof SignOneShotResult>;
