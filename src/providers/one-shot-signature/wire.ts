// The one-shot signature service as it travels (P1 §1.4, §2.9, §4.4). Five paths are shown, no request or response is: every
// shape below is assumed. What decides (state, request, documents) is read strictly, the rest loosely.
import { z } from "zod";
import { ErrorCode, Word as PlainWord } from "../errors/outside.js";
import { isSegment } from "../http/call.js";

const api = "/oneshot/api/v1";

/** P1 §4.4: the paths that are shown. */
export const routes = {
  listTokens: { method: "GET", path: `${api}/tokens` },
  create: { method: "POST", path: `${api}/create` },
  contract: { method: "GET", path: `${api}/contract/{request_pk}` },
  otp: { method: "POST", path: `${api}/otp/{request_pk}` },
  sign: { method: "POST", path: `${api}/sign/{request_pk}` },
} as const;

/** P1 §4.4 shows neither their paths, which the account says, nor their methods, which are assumed. */
export const assumedMethods = {
  createToken: "POST",
  uploadDocument: "POST",
  uploadHash: "POST",
  retrieve: "GET",
  deleteDocuments: "DELETE",
  createVideo: "POST",
  uploadEvidences: "POST",
  uploadVideo: "POST",
  approveVideo: "POST",
  cancelVideo: "POST",
  getVideo: "GET",
  updateVideo: "PATCH",
} as const;
export type AssumedOperation = keyof typeof assumedMethods;

const Text = z.string().optional().catch(undefined);
const Word = z.string().min(1);
/** P1 §2.9: an identifier; whether a text or a number is not shown. It stands in paths. */
const Identifier = z.union([Word.max(500).refine(isSegment), z.int().transform(String)]);
/** Whether it comes in lines, in the alphabet for URLs (RFC 4648 §5) or without padding is not shown. */
const Base64 = z
  .string()
  .transform((text) => text.replaceAll(/\s/g, "").replace(/={1,2}$/, ""))
  .transform((text) => text.replaceAll("+", "-").replaceAll("/", "_"))
  .pipe(z.base64url().min(1));
const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/i)
  .transform((hex) => hex.toLowerCase())
  .nullish();

export const TokenAnswer = z.looseObject({ token: Word });
export const CreateAnswer = z.looseObject({ requestPk: Identifier });
export const SignAnswer = z.looseObject({ state: z.enum(["signed", "signing"]) });
export const VideoAnswer = z.looseObject({ state: PlainWord });

export const RetrieveAnswer = z.looseObject({
  requestPk: Identifier.nullish(),
  state: PlainWord,
  documents: z.array(
    z.looseObject({
      name: Word,
      sha256: Digest,
      signed: Base64.nullish(),
      signedSha256: Digest,
    }),
  ),
});
export type RetrieveAnswer = z.infer<typeof RetrieveAnswer>;

/** P1 §7.3: not shown. */
export const ErrorAnswer = z.object({ code: ErrorCode, message: Text });
