// Uploads a document of a signature request as a file or as its hash, queries it and deletes it; makes the identity video of a request
// (P1 §1.4). The paths are assumed and configurable, the shapes assumed (P1 §4.4).
import { createHash } from "node:crypto";
import { mismatchError } from "../http/answer.js";
import { AnswerMismatch, json, LONG_JSON_BYTES, open } from "../http/described.js";
import { ProviderError } from "../errors/provider-error.js";
import { call, oneFile, routeOf, writing } from "./call.js";
import type { OneShotSignatureAccount } from "./account.js";
import { asking } from "./translate.js";
import { RetrieveAnswer, VideoAnswer } from "./wire.js";
import { fileForm } from "../http/file-form.js";
import type { NamedFile } from "../http/file-form.js";

export interface OneShotDocument {
  name: string;
  /** Is the digest of the uploaded file, in lower-case hex. */
  sha256?: string;
  signed?: Buffer;
  signedSha256?: string;
}

/**
 * P1 §1.4, §4.4, assumed: multipart. 400 `protocol`; 408, 409, 5xx, another 2xx and no answer `unavailable`, effect
 * unknown: `retrieve` shows it.
 */
export const uploadDocument = writing("uploadDocument", oneFile);

/** P1 §1.4, §4.4, assumed; `sha256` in hex. Errors as `uploadDocument`. */
export const uploadHash = writing(
  "uploadHash",
  ({ name, sha256 }: { name: string; sha256: string }, { sent, hashAlgorithm }) => ({
    json: { [sent.name]: name, [sent.algorithm]: hashAlgorithm, [sent.hash]: sha256 },
  }),
);

/**
 * Shows each upload and what became of it. 404 is `notVisibleYet`; an answer that cannot be read, is about another request or disagrees
 * with its own digest is `protocol`, as is an account that has no path for it.
 */
export async function retrieve(
  account: OneShotSignatureAccount,
  requestPk: string,
  signal?: AbortSignal,
): Promise<{ state: string; documents: OneShotDocument[] }> {
  const route = routeOf(account, "retrieve");
  const request = { ...route, requestPk, signal };
  const answer = await call(
    account,
    "retrieve",
    request,
    json(RetrieveAnswer, { spelling: account, maxBytes: LONG_JSON_BYTES }),
  );
  const { requestPk: shown, state, documents } = answer.value;
  const broken = (text: string) =>
    mismatchError(asking("retrieve"), answer, new AnswerMismatch("content", `with ${text}`));
  if ((shown ?? requestPk) !== requestPk) throw broken("another request");
  const found = documents.map((one) => documentOf(one));
  if (found.some(disagrees)) throw broken("a signed document that disagrees with its digest");
  return { state, documents: found };
}

/**
 * P1 §4.4, assumed. 404 is success, but only where an earlier call may have deleted them (`isRepetition`), else `protocol`. 408, 409, 5xx
 * and no answer `unavailable`: repeat it.
 */
export async function deleteDocuments(
  account: OneShotSignatureAccount,
  { requestPk, isRepetition }: { requestPk: string; isRepetition: boolean },
  signal?: AbortSignal,
): Promise<void> {
  const route = routeOf(account, "deleteDocuments");
  try {
    await call(account, "deleteDocuments", { ...route, requestPk, signal }, open);
  } catch (error) {
    const isGone = error instanceof ProviderError && error.status === 404;
    if (!isGone || !isRepetition) throw error;
  }
}

function documentOf(shown: RetrieveAnswer["documents"][number]): OneShotDocument {
  const { name, sha256, signed, signedSha256 } = shown;
  return {
    name,
    ...(sha256 && { sha256 }),
    ...(signed && { signed: Buffer.from(signed, "base64") }),
    ...(signedSha256 && { signedSha256 }),
  };
}

function disagrees({ signed, signedSha256 }: OneShotDocument): boolean {
  if (signed === undefined || signedSha256 === undefined) return false;
  return createHash("sha256").update(signed).digest("hex") !== signedSha256;
}

interface VideoFields {
  fields?: Record<string, unknown> | undefined;
}
interface VideoFiles {
  files: readonly NamedFile[];
}

const withFields = ({ fields = {} }: VideoFields) => ({ json: fields });

/**
 * P1 §1.4: the identity video of a request. Every write: 400 `protocol`; 401, 403 `accessDenied`; 408, 409, 5xx, another 2xx and no
 * answer `unknownOutcome`.
 */
export const createVideo = writing("createVideo", withFields);
/** One part each. */
export const uploadEvidences = writing("uploadEvidences", ({ files }: VideoFiles, { sent }) => ({
  form: fileForm(sent.file, files),
}));
export const uploadVideo = writing("uploadVideo", oneFile);
export const approveVideo = writing("approveVideo", () => ({ json: {} }));
export const cancelVideo = writing("cancelVideo", () => ({ json: {} }));
export const updateVideo = writing("updateVideo", withFields);

/** 404 `notVisibleYet`; what shows no state `protocol`. */
export async function getVideo(
  account: OneShotSignatureAccount,
  requestPk: string,
  signal?: AbortSignal,
): Promise<{ state: string }> {
  const request = { ...routeOf(account, "getVideo"), requestPk, signal };
  const described = json(VideoAnswer, { spelling: account, maxBytes: LONG_JSON_BYTES });
  const { value } = await call(account, "getVideo", request, described);
  return { state: value.state };
}
