// The identity-video sub-flow of a signature request (P1 §1.4): create, upload evidences and video, approve, cancel, get and
// update. The paths are assumed and configurable, the shapes assumed (P1 §4.4).
//
// Every write: 400 `invalidRequest`; 401, 403 `accessDenied`; 408, 409, 5xx, another 2xx and no answer `unknownOutcome`.
import { json, LONG_JSON_BYTES } from "../http/described.js";
import { fileForm } from "../http/file-form.js";
import type { Request } from "../http/call.js";
import type { NamedFile } from "../http/file-form.js";
import { call, open, routeOf } from "./call.js";
import type { OneShotSignatureAccount } from "./account.js";
import { VideoAnswer } from "./wire.js";
import type { AssumedOperation } from "./wire.js";

interface VideoFields {
  requestPk: string;
  fields?: Record<string, unknown> | undefined;
}

/** P1 §1.4: create request. */
export async function createVideo(
  account: OneShotSignatureAccount,
  { requestPk, fields = {} }: VideoFields,
  signal?: AbortSignal,
): Promise<void> {
  await write(account, "createVideo", requestPk, { json: fields, signal });
}

/** P1 §1.4: upload evidences; one part each. */
export async function uploadEvidences(
  account: OneShotSignatureAccount,
  { requestPk, files }: { requestPk: string; files: readonly NamedFile[] },
  signal?: AbortSignal,
): Promise<void> {
  const form = fileForm(account.sent.file, files);
  await write(account, "uploadEvidences", requestPk, { form, signal });
}

/** P1 §1.4: upload video. */
export async function uploadVideo(
  account: OneShotSignatureAccount,
  { requestPk, ...file }: NamedFile & { requestPk: string },
  signal?: AbortSignal,
): Promise<void> {
  const form = fileForm(account.sent.file, [file]);
  await write(account, "uploadVideo", requestPk, { form, signal });
}

/** P1 §1.4: approve. */
export async function approveVideo(
  account: OneShotSignatureAccount,
  requestPk: string,
  signal?: AbortSignal,
): Promise<void> {
  await write(account, "approveVideo", requestPk, { json: {}, signal });
}

/** P1 §1.4: cancel. */
export async function cancelVideo(
  account: OneShotSignatureAccount,
  requestPk: string,
  signal?: AbortSignal,
): Promise<void> {
  await write(account, "cancelVideo", requestPk, { json: {}, signal });
}

/** P1 §1.4: get the request. 404 `notVisibleYet`; what shows no state `protocol`. */
export async function getVideo(
  account: OneShotSignatureAccount,
  requestPk: string,
  signal?: AbortSignal,
): Promise<{ state: string }> {
  const route = routeOf(account, "getVideo");
  const request = { ...route, requestPk, signal };
  const { value } = await call(
    account,
    "getVideo",
    request,
    json(VideoAnswer, { spelling: account, maxBytes: LONG_JSON_BYTES }),
  );
  return { state: value.state };
}

/** P1 §1.4: update the request. */
export async function updateVideo(
  account: OneShotSignatureAccount,
  { requestPk, fields }: Required<VideoFields>,
  signal?: AbortSignal,
): Promise<void> {
  await write(account, "updateVideo", requestPk, { json: fields, signal });
}

async function write(
  account: OneShotSignatureAccount,
  operation: AssumedOperation,
  requestPk: string,
  input: Pick<Request, "json" | "form" | "signal">,
): Promise<void> {
  await call(account, operation, { ...routeOf(account, operation), requestPk, ...input }, open);
}
