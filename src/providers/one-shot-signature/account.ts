// An account of the one-shot signature service: its keys in the configuration, and the account as the client takes it
// (P1 §4.4, §5.4).
import { z } from "zod";
import {
  names,
  refuseNameOfTwo,
  sentAs,
  spellings,
  timeoutSeconds,
  tokenKeys,
} from "../../config/account-fields.js";
import { accountSecret, baseUrl, list, path, plain, section, text } from "../../config/fields.js";
import { jsonDigest } from "../../crypto/json-digest.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

/** P1 §7.3, assumed: the codes by which the provider says what is wrong with an OTP. */
export interface OtpCodes {
  wrongOtpCodes: readonly string[];
  expiredOtpCodes: readonly string[];
}

const oneShot = "/oneshot/api/v1";
const video = `${oneShot}/identity-video/{request_pk}`;
const requestPath = (allowed = /^\/.*\{request_pk\}/) =>
  z
    .preprocess(
      plain,
      z.string().regex(allowed, "must begin with a slash and contain {request_pk}"),
    )
    .describe("assumed: the path of this call (P1 §4.4)");

/** A relay that has no such account takes this one: it needs nothing else of the account. */
export const defaultWebhookPointer = "/request_pk";

export const keys = z.strictObject({
  baseUrl: baseUrl(),
  token: accountSecret().describe("secret; of the registration-authority operator (P1 §5.4)"),
  ...tokenKeys("Token "),
  timeoutSeconds,
  wrongOtpCodes: list()
    .default(["otp_wrong"])
    .describe('list; assumed: the codes that say "wrong code" (P1 §7.3 names none)'),
  expiredOtpCodes: list()
    .default(["otp_expired"])
    .describe("list; assumed: the codes that say that a code has expired"),
  webhookPointer: path("as a JSON pointer does")
    .default(defaultWebhookPointer)
    .describe("assumed: the JSON pointer to the request's id in a webhook (P1 §6.2). Relay"),
  /** Assumed: the paths that P1 §4.4 does not show. */
  paths: section({
    createToken: path()
      .default(`${oneShot}/tokens`)
      .describe(
        "assumed, as all `paths`: P1 §4.4 does not show them; each begins with a slash, and all others have a place for `{request_pk}`",
      ),
    uploadDocument: requestPath().default(`${oneShot}/document/{request_pk}`),
    uploadHash: requestPath().default(`${oneShot}/hash/{request_pk}`),
    retrieve: requestPath(/^none$|^\/.*\{request_pk\}/)
      .default(`${oneShot}/document/{request_pk}`)
      .describe(
        "assumed; `none`: the service has no such call, so uploads and the end of a signature cannot be looked up",
      ),
    deleteDocuments: requestPath().default(`${oneShot}/document/{request_pk}`),
    createVideo: requestPath().default(video),
    uploadEvidences: requestPath().default(`${video}/evidences`),
    uploadVideo: requestPath().default(`${video}/video`),
    approveVideo: requestPath().default(`${video}/approve`),
    cancelVideo: requestPath().default(`${video}/cancel`),
    getVideo: requestPath().default(video),
    updateVideo: requestPath().default(video),
  }),
  /** Assumed: the members of answers, each by the names that it may have, in the order in which they count (P1 §2.9, §4.4). */
  members: section({
    token: names("token"),
    requestPk: names("request_pk").describe("list; assumed; of the request's id (P1 §2.9)"),
    state: names("state", "status").describe("list; assumed"),
    documents: names("documents"),
    name: names("name"),
    sha256: names("sha256"),
    signed: names("signed"),
    signedSha256: names("signedSha256"),
  }).superRefine(refuseNameOfTwo),
  /** Assumed: the words of `state`, each by the names that it may have. */
  words: section({
    signed: spellings("signed"),
    signing: spellings("signing"),
    failed: spellings("failed"),
    cancelled: names("cancelled", "canceled").describe(
      "list; assumed; of a request and of its identity video",
    ),
    approved: spellings("approved"),
  }).superRefine(refuseNameOfTwo),
  /** Assumed: by which name something is sent; `file` is the part of an upload that carries the file. */
  sent: section({
    file: sentAs("file"),
    otp: sentAs("otp"),
    name: sentAs("name"),
    algorithm: sentAs("algorithm"),
    hash: sentAs("hash"),
  }),
  hashAlgorithm: text().default("SHA-256").describe("assumed; what stands for the algorithm"),
});

/** `lookUpConfiguration` is a digest of the keys that decide which documents `retrieve` shows. None of them is a secret. */
export function accountOf(
  { timeoutSeconds: seconds, paths, ...rest }: z.infer<typeof keys>,
  { name }: AccountSettings,
) {
  const { retrieve, ...others } = paths;
  return {
    ...rest,
    name,
    timeoutMs: seconds * 1_000,
    paths: { ...others, retrieve: retrieve === "none" ? undefined : retrieve },
    lookUpConfiguration: jsonDigest({ baseUrl: rest.baseUrl, retrieve }),
  };
}

export type OneShotSignatureAccount = ReturnType<typeof accountOf>;

export function sandboxKeys({ url }: ServedSandbox) {
  return { baseUrl: url, token: "sandbox-token" };
}
