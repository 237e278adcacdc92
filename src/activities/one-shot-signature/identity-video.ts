// Writes the identity video, carries out the caller's decision, and queries its state (P1 §1.4).
import { contentOf } from "../../documents/content.js";
import { ProviderFields } from "../../contracts/shared/values.js";
import type { VideoAnswer, VideoUpdateAnswer } from "../../contracts/sign-one-shot/messages.js";
import type { OwnedDocument } from "../../journal/ownership.js";
import * as oneShot from "../../providers/one-shot-signature/client.js";
import type { StepCall, UpdateCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import { fileOf, ownedDocument } from "../runtime/documents.js";
import { earlierRequests, ifShown, updateAnswer } from "../runtime/update-answer.js";
import type { OneShotContext, OneShotRequest } from "./context.js";
import type { PlannedFile } from "./request.js";

/** P1 §1.4: create request. */
export async function createVideo(
  context: OneShotContext,
  given: StepCall & OneShotRequest & { fields: unknown },
): Promise<void> {
  const { effect, requestPk } = given;
  const input = { requestPk, fields: ProviderFields.parse(given.fields ?? {}) };
  await runEffect(context, effect, {
    operation: "createVideo",
    input,
    send: ({ signal }) => oneShot.createVideo(context.account, input, signal),
  });
}

/** P1 §1.4: upload evidences. */
export async function uploadEvidences(
  context: OneShotContext,
  given: StepCall & OneShotRequest & { files: PlannedFile[] },
): Promise<void> {
  const { effect, requestPk, files } = given;
  await runEffect(context, effect, {
    operation: "uploadEvidences",
    input: { requestPk, files: files.map(compared) },
    documents: files.map(owned),
    areChecked: true,
    prepare: () => Promise.all(files.map((file) => fileOf(context.deps.documents, file))),
    send: ({ prepared, signal }) =>
      oneShot.uploadEvidences(context.account, { requestPk, files: prepared }, signal),
  });
}

/** P1 §1.4: upload video. */
export async function uploadVideo(
  context: OneShotContext,
  given: StepCall & OneShotRequest & { file: PlannedFile },
): Promise<void> {
  const { effect, requestPk, file } = given;
  await runEffect(context, effect, {
    operation: "uploadVideo",
    input: { requestPk, file: compared(file) },
    documents: [owned(file)],
    areChecked: true,
    prepare: () => fileOf(context.deps.documents, file),
    send: ({ prepared, signal }) =>
      oneShot.uploadVideo(context.account, { requestPk, ...prepared }, signal),
  });
}

function compared({ name, document }: PlannedFile): object {
  return { name, document: contentOf(document) };
}

function owned({ document }: PlannedFile): OwnedDocument {
  return ownedDocument(document, "video");
}

const ends = { approve: "approved", cancel: "cancelled" } as const;

type Decision = UpdateCall & OneShotRequest & { decision: "approve" | "cancel" };

export function decisionOperation({ decision }: Decision): "approveVideo" | "cancelVideo" {
  return decision === "approve" ? "approveVideo" : "cancelVideo";
}

/**
 * P1 §1.4: approve, cancel. The call of the update `decideVideo`; an error is the update's answer
 * (docs/reading-the-specification.md §9). Where an earlier decision has ended the video, that end is the answer to any
 * decision.
 */
export async function decideVideo(context: OneShotContext, given: Decision): Promise<VideoAnswer> {
  const { effect, requestPk, decision } = given;
  const operation = decisionOperation(given);
  const decide = decision === "approve" ? oneShot.approveVideo : oneShot.cancelVideo;
  return updateAnswer(async () => {
    const before = await madeBefore(context, requestPk);
    if (before) return before;
    await runEffect(context, effect, {
      of: "update",
      operation,
      input: { requestPk },
      send: ({ signal }) => decide(context.account, { requestPk }, signal),
    });
    return ends[decision];
  });
}

/** P1 §1.4: update the request. The call of the update `updateVideo`; an error is the update's answer. */
export async function updateVideo(
  context: OneShotContext,
  { effect, requestPk, fields: given }: UpdateCall & OneShotRequest & { fields: unknown },
): Promise<VideoUpdateAnswer> {
  return updateAnswer(async () => {
    const fields = ProviderFields.parse(given);
    await runEffect(context, effect, {
      of: "update",
      operation: "updateVideo",
      input: { requestPk, fields },
      send: ({ signal }) => oneShot.updateVideo(context.account, { requestPk, fields }, signal),
    });
    return "updated" as const;
  });
}

/**
 * How earlier decisions, also of other runs, have ended the video. While the outcome of one is unknown, the video itself is
 * polled. Another decision is sent only if the video shows that the earlier one had no effect, and the earlier call is over
 * (docs/reading-the-specification.md §0).
 */
async function madeBefore(
  context: OneShotContext,
  requestPk: string,
): Promise<"approved" | "cancelled" | "unknown" | undefined> {
  const { answered, isOpen, isUnderWay } = await earlierRequests(context, Object.keys(ends));
  if (answered !== undefined) return ends[answered as keyof typeof ends];
  if (!isOpen) return undefined;
  const shown = await ifShown(videoState(context, requestPk));
  if (shown === "approved" || shown === "cancelled") return shown;
  return shown === undefined || isUnderWay ? "unknown" : undefined;
}

/** P1 §1.4: get the request. */
export async function videoState(context: OneShotContext, requestPk: string): Promise<string> {
  const { state } = await context.ask("getVideo", oneShot.getVideo, requestPk);
  return state;
}
