// Makes the identity video of a signature request (P1 §1.4): creates it, uploads evidences and video, approves, cancels, gets and
// updates it. The paths are assumed and configurable, the shapes assumed (P1 §4.4).
//
// Every write: 400 `invalidRequest`; 401, 403 `accessDenied`; 408, 409, 5xx, another 2xx and no answer `unknownOutcome`.
import { json, LONG_JSON_BYTES } from "../http/described.js";
import { fileForm } from "../http/file-form.js";
import type { NamedFile } from "../http/file-form.js";
import { call, oneFile, routeOf, writing } from "./call.js";
import type { OneShotSignatureAccount } from "./account.js";
import { VideoAnswer } from "./wire.js";

interface VideoFields {
  fields?: Record<string, unknown> | undefined;
}
interface VideoFiles {
  files: readonly NamedFile[];
}

const withFields = ({ fields = {} }: VideoFields) => ({ json: fields });

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
