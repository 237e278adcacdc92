// The one-shot signature service as it travels (P1 §1.4, §2.9, §4.4). Five paths are shown, no request or response is: every
// shape below is assumed. What decides (state, request, documents) is read strictly, the rest loosely.
import { z } from "zod";
import { ErrorCode, Word as PlainWord } from "../errors/outside.js";

const api = "/oneshot/api/v1";

/** P1 §4.4: the paths that are shown. */
export const routes = {
  listTokens: { method: "GET", path: `${api}/tokens` },
  create: { method: "POST", path: `${api}/create` },
  contract: { method: "GET", path: `${api}/contract/{request_pk}` },
  otp: { method: "POST", path: `${api}/otp/{request_pk}` },
  sign: { method: "POST", path: `${api}/sign/{request_pk}` },
} as const;

const video = `${api}/identity-video/{request_pk}`;

/** What the specification leaves open and this client assumes; all but the methods is configurable per account. */
export const assumed = {
  /** P1 §5.4: how the token of the registration-authority operator is carried; the prefix stands right before the token. */
  tokenHeader: "Authorization",
  tokenPrefix: "Token ",
  /** P1 §4.4: "paths of token creation, document operations and the identity-video operations: not shown". */
  paths: {
    createToken: `${api}/tokens`,
    uploadDocument: `${api}/document/{request_pk}`,
    uploadHash: `${api}/hash/{request_pk}`,
    retrieve: `${api}/document/{request_pk}`,
    deleteDocuments: `${api}/document/{request_pk}`,
    createVideo: video,
    uploadEvidences: `${video}/evidences`,
    uploadVideo: `${video}/video`,
    approveVideo: `${video}/approve`,
    cancelVideo: `${video}/cancel`,
    getVideo: video,
    updateVideo: video,
  },
  /** P1 §4.4: their methods. */
  methods: {
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
  },
  /** P1 §2.9, §4.4: the members of answers, each by the names that it may have. */
  members: {
    token: ["token"],
    state: ["state", "status"],
    documents: ["documents"],
    name: ["name"],
    sha256: ["sha256"],
    signed: ["signed"],
    signedSha256: ["signedSha256"],
  },
  /** P1 §4.4: the words of `state`, each by the names that it may have. */
  words: {
    signed: ["signed"],
    signing: ["signing"],
    failed: ["failed"],
    cancelled: ["cancelled", "canceled"],
    approved: ["approved"],
  },
  /** P1 §4.4: what is sent by which name; `file` is the part of a multipart body that carries a file. */
  sent: { file: "file", otp: "otp", name: "name", algorithm: "algorithm", hash: "hash" },
  /** P1 §4.4: what stands for the algorithm of a hash. */
  hashAlgorithm: "SHA-256",
  /** P1 §7.3: the `code` of an error that says that the OTP is wrong, or expired. */
  wrongOtpCodes: ["otp_wrong"],
  expiredOtpCodes: ["otp_expired"],
} as const;

/** The operations whose paths are assumed. */
export type AssumedOperation = keyof typeof assumed.paths;

const Text = z.string().optional().catch(undefined);
const Word = z.string().min(1);
/** P1 §2.9: an identifier; whether a text or a number is not shown. */
const Identifier = z.union([Word.max(500), z.int().transform(String)]);
const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/i)
  .transform((hex) => hex.toLowerCase())
  .nullish();

export const TokenAnswer = z.looseObject({ token: Word });
export const TokensAnswer = z.array(TokenAnswer);
export const CreateAnswer = z.looseObject({ request_pk: Identifier });
export const SignAnswer = z.looseObject({ state: z.enum(["signed", "signing"]) });
export const VideoAnswer = z.looseObject({ state: PlainWord });

export const RetrieveAnswer = z.looseObject({
  request_pk: Identifier.nullish(),
  state: PlainWord,
  documents: z.array(
    z.looseObject({
      name: Word,
      sha256: Digest,
      signed: z.base64().min(1).nullish(),
      signedSha256: Digest,
    }),
  ),
});
export type RetrieveAnswer = z.infer<typeof RetrieveAnswer>;

/** P1 §7.3: not shown. */
export const ErrorAnswer = z.looseObject({
  code: ErrorCode,
  message: Text,
});
