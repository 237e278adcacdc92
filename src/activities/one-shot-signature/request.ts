// The request and its documents: checked, created, uploaded (P1 §1.4, §4.4).
import { contentOf } from "../../documents/content.js";
import { comparedInput } from "../../contracts/definition/secret-fields.js";
import { SignOneShotInput } from "../../contracts/sign-one-shot/contract.js";
import type { OneShotSettings } from "../../contracts/sign-one-shot/contract.js";
import type { DocumentInput, DocumentReference } from "../../contracts/shared/values.js";
import type { DocumentKind } from "../../journal/ownership.js";
import * as oneShot from "../../providers/one-shot-signature/client.js";
import type { OneShotDocument } from "../../providers/one-shot-signature/client.js";
import type { InputCall, StepCall } from "../runtime/activity.js";
import { measured } from "../runtime/call-metrics.js";
import { runEffect } from "../runtime/effect.js";
import { checkedReference, fileOf, ownedDocument } from "../runtime/documents.js";
import type { AssumedLookUp } from "../runtime/effect.js";
import { NotAllowed, resolved } from "../runtime/provider-context.js";
import { provider } from "./context.js";
import type { OneShotContext, OneShotRequest } from "./context.js";
import type { Place } from "../runtime/provider-context.js";

export interface PlannedFile {
  name: string;
  document: DocumentReference;
}

/** It is fixed for the run. */
export interface OneShotPlan extends Place {
  settings: OneShotSettings;
  variant: SignOneShotInput["variant"];
  documents: { name: string; sha256: string; document?: DocumentReference }[];
  identityVideo?: { evidences: PlannedFile[]; video: PlannedFile };
  /** Whether the provider can be asked what became of the request. */
  canRetrieve: boolean;
}

/** Before any effect: validates the input, stores each inline file, and checks each stored one. */
export async function prepare(context: OneShotContext, given: InputCall): Promise<OneShotPlan> {
  const { account, deps } = context;
  const input = context.parse(SignOneShotInput, given.input);
  if (input.deleteDocuments && account.paths.retrieve === undefined)
    throw new NotAllowed([{ path: "deleteDocuments", problem: needsRetrieve }]);
  const documents: OneShotPlan["documents"] = [];
  // One after the other: fifty of them may be more than the memory holds.
  for (const [index, file] of input.documents.entries()) {
    if ("sha256" in file) documents.push(file);
    else {
      const planned = await stored(context, file, "submitted", `documents.${index}.document`);
      documents.push({ ...planned, sha256: planned.document.sha256 });
    }
  }
  return {
    ...context.place,
    settings: resolved(deps.defaults.signOneShot, input.settings),
    variant: input.variant,
    documents,
    canRetrieve: account.paths.retrieve !== undefined,
    ...(input.identityVideo && {
      identityVideo: await storedVideo(context, input.identityVideo),
    }),
  };
}

const needsRetrieve =
  "must be left out: the account cannot fetch the signed documents (its paths.retrieve is none), so nothing would be left of them";

async function storedVideo(
  context: OneShotContext,
  { evidences, video }: NonNullable<SignOneShotInput["identityVideo"]>,
): Promise<NonNullable<OneShotPlan["identityVideo"]>> {
  const planned: PlannedFile[] = [];
  for (const [index, file] of evidences.entries())
    planned.push(await stored(context, file, "video", `identityVideo.evidences.${index}.document`));
  return {
    evidences: planned,
    video: await stored(context, video, "video", "identityVideo.video.document"),
  };
}

async function stored(
  context: OneShotContext,
  { name, document: given }: { name: string; document: DocumentInput },
  kind: DocumentKind,
  path: string,
): Promise<PlannedFile> {
  return { name, document: await checkedReference(context.deps, given, kind, path) };
}

export interface CreatedRequest {
  requestPk: string;
  createdAt: string;
}

/** P1 §4.4. From now on, webhooks that name this request belong to this process. */
export async function create(
  context: OneShotContext,
  given: StepCall & { input: unknown },
): Promise<CreatedRequest> {
  const { account } = context;
  const input = context.parse(SignOneShotInput, given.input);
  const answer = await runEffect(context, given.effect, {
    operation: "create",
    input: comparedInput(SignOneShotInput, input, contentOf),
    async send({ signal }): Promise<{ requestPk: string; createdAt?: string }> {
      const { requestPk } = await oneShot.create(account, input.providerFields, signal);
      return { requestPk, createdAt: new Date().toISOString() };
    },
    async findShown(requestPk) {
      if (account.paths.retrieve === undefined) return undefined;
      // Not through the circuit: this answer is needed even while this call is its only probe.
      await measured(provider, "retrieve", oneShot.retrieve)(account, requestPk);
      return { requestPk, createdAt: new Date().toISOString() };
    },
    referenceOf: ({ requestPk }) => requestPk,
  });
  const { requestPk, createdAt = new Date().toISOString() } = answer;
  return { requestPk, createdAt };
}

type Upload = StepCall &
  OneShotRequest & { file: OneShotPlan["documents"][number]; asHash: boolean };

export function uploadOperation({ asHash }: Upload): "uploadHash" | "uploadDocument" {
  return asHash ? "uploadHash" : "uploadDocument";
}

/** P1 §1.4: the full file, or its hash. */
export async function upload(context: OneShotContext, given: Upload): Promise<void> {
  const { requestPk, file } = given;
  const { account, deps } = context;
  const { name, sha256, document } = file;
  const uploaded = { requestPk, name, sha256 };
  await runEffect(context, given.effect, {
    operation: uploadOperation(given),
    input: uploaded,
    ...(document && { documents: [ownedDocument(document, "submitted")] }),
    areChecked: true,
    prepare: () => (given.asHash ? undefined : fileOf(deps.documents, withBytes(file))),
    send: ({ prepared, signal }) =>
      prepared
        ? oneShot.uploadDocument(account, { requestPk, ...prepared }, signal)
        : oneShot.uploadHash(account, uploaded, signal),
    ...context.lookUp(requestPk, ({ documents }) => (shows(documents, file) ? {} : undefined)),
    ...(account.paths.retrieve !== undefined && { assumed: shownBy(context, uploaded) }),
  });
}

interface UploadedFile {
  requestPk: string;
  name: string;
  sha256: string;
}

/** Whether `retrieve` shows what was uploaded, and under its name, is assumed (P1 §1.4, §4.4). */
function shownBy(context: OneShotContext, uploaded: UploadedFile): AssumedLookUp<UploadedFile> {
  return {
    form: nameForm(uploaded.name),
    sampleOf: () => uploaded,
    find: async (sample) => {
      const { documents } = await context.retrieve(sample.requestPk);
      return shows(documents, sample) ? nameForm(sample.name) : undefined;
    },
  };
}

/** A provider may write other names otherwise. */
function nameForm(name: string): string {
  return /^[\w.-]+$/.test(name) ? "plain name" : "other name";
}

function shows(
  documents: readonly OneShotDocument[],
  { name, sha256 }: Pick<UploadedFile, "name" | "sha256">,
): boolean {
  return documents.some((one) => isSameName(one.name, name) && (one.sha256 ?? sha256) === sha256);
}

/** A provider may keep a name in another Unicode normalization form. */
export function isSameName(one: string, other: string): boolean {
  return one.normalize() === other.normalize();
}

function withBytes({ name, document }: OneShotPlan["documents"][number]): PlannedFile {
  if (!document) throw new Error("a hash has no file");
  return { name, document };
}
