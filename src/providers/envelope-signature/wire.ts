// The envelope-based one-shot signature as it travels (P1 §2.10, §4.5). Paths and the names of §2.10 are shown; where they
// stand in requests and answers is assumed.
import { z } from "zod";
import { ErrorCode } from "../errors/outside.js";

/** P1 §4.5. */
export const routes = {
  esawoneshot: { method: "POST", path: "/api/v1/esawoneshot" },
  uploadFile: { method: "POST", path: "/Api/v6/file/upload" },
  sendEnvelope: { method: "POST", path: "/Api/v6/envelope/send" },
} as const;

/** P1 §4.5, §5.5: of the envelope host. */
export const API_TOKEN_HEADER = "ApiToken";

/** An uploaded file as it stands in an envelope. */
export interface EnvelopeDocument {
  fileId: string;
  /** The caller adds these members. */
  fields?: Record<string, unknown> | undefined;
}

/** The specification leaves these open. */
export const assumed = {
  /** P1 §2.10: the members around `FileId` and `requestToken`; documents are numbered from 1 in their order. */
  documents: (documents: readonly EnvelopeDocument[]) =>
    documents.map(({ fileId, fields }, index) => ({
      ...fields,
      FileId: fileId,
      DocumentNumber: index + 1,
    })),
  activities: (vendor: string, requestToken: string) => [
    { Action: { Sign: { Type: `GenericSigningPlugin${vendor}OneShot`, requestToken } } },
  ],
} as const;

const Text = z.string().optional().catch(undefined);
/** Whether an identifier is a text or a number is not shown. */
const Identifier = z.union([z.string().min(1), z.int().transform(String)]);

/** P1 §2.10. */
export const CreateAnswer = z.looseObject({ req_pk: Identifier, esaw_token: z.string().min(1) });
/** P1 §2.10. */
export const UploadAnswer = z.looseObject({ FileId: Identifier });
/** P1 §4.5: not shown. */
export const SendAnswer = z.looseObject({ EnvelopeId: Identifier.nullish() });

/** P1 §7.3, not shown: `code` and `message` of the certificate authority's host, `ErrorId` and `Message` of the other. */
export const ErrorAnswer = z.looseObject({
  code: ErrorCode,
  message: Text,
  ErrorId: ErrorCode,
  Message: Text,
});
