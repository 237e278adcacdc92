// The request and its documents: checked, created, uploaded (P1 §1.4, §4.4).
import { contentOf } from "../../documents/content.js";
import { comparedInput } from "../../contracts/shared/compared-input.js";
import { SignOneShotInput } from "../../contracts/sign-one-shot.js";
import type { OneShotSettings } from "../../contracts/sign-one-shot.js";
import type { DocumentInput, DocumentReference } from "../../contracts/shared/values.js";
import type { DocumentKind } from "../../journal/ownership.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { OneShotDocument } from "../../providers/one-shot-signature/client.js";
import { execution } from "../runtime/effect.js";
import type { AttemptMode } from "../runtime/failure.js";
import { checkedReferenceOf, ownedDocument, parseInput, readDocument } from "../runtime/input.js";
import { unlessMissing } from "../runtime/missing-document.js";
import type { AssumedLookUp } from "../runtime/look-up-proof.js";
import { accountIn, resolved } from "../runtime/provider-context.js";
import type { Attempt } from "../runtime/provider-context.js";
import { oneShot, provider } from "./context.js";
import type { OneShotAttempt, OneShotRequest, SigningDesk } from "./context.js";

export interface PlannedFile {
  name: string;
  document: DocumentReference;
}

/** What the process does, fixed for the run. */
export interface OneShotPlan {
  environment: string;
  account: string;
  settings: OneShotSettings;
  variant: SignOneShotInput["variant"];
  documents: { name: string; sha256: string; document?: DocumentReference }[];
  identityVideo?: { evidences: PlannedFile[]; video: PlannedFile };
  /** Whether the provider can be asked what became of the request. */
  canRetrieve: boolean;
}

/** Validates the input, and sees to it that every file is in the document store, as it says: before any effect. */
export function prepare(
  desk: SigningDesk,
  given: { input: unknown; mode: AttemptMode },
): Promise<OneShotPlan> {
  return desk.run("prepare", accountIn(given.input), given.mode, async ({ name, paths }) => {
    const { environment, settings } = desk.has;
    const input = parseInput(SignOneShotInput, given.input);
    const documents: OneShotPlan["documents"] = [];
    // One after the other: fifty of them may be more than the memory holds.
    for (const [index, file] of input.documents.entries()) {
      if ("sha256" in file) documents.push(file);
      else {
        const planned = await stored(desk, file, "submitted", `documents.${index}.document`);
        documents.push({ ...planned, sha256: planned.document.sha256 });
      }
    }
    return {
      environment,
      account: name,
      settings: resolved(settings, input.settings),
      variant: input.variant,
      documents,
      canRetrieve: paths.retrieve !== undefined,
      ...(input.identityVideo && {
        identityVideo: await storedVideo(desk, input.identityVideo),
      }),
    };
  });
}

async function storedVideo(
  desk: SigningDesk,
  { evidences, video }: NonNullable<SignOneShotInput["identityVideo"]>,
): Promise<NonNullable<OneShotPlan["identityVideo"]>> {
  const planned: PlannedFile[] = [];
  for (const [index, file] of evidences.entries())
    planned.push(await stored(desk, file, "video", `identityVideo.evidences.${index}.document`));
  return {
    evidences: planned,
    video: await stored(desk, video, "video", "identityVideo.video.document"),
  };
}

async function stored(
  desk: SigningDesk,
  { name, document: given }: { name: string; document: DocumentInput },
  kind: DocumentKind,
  path: string,
): Promise<PlannedFile> {
  return { name, document: await checkedReferenceOf(desk.has, given, kind, path) };
}

export interface CreatedRequest {
  requestPk: string;
  createdAt: string;
}

/** P1 §4.4. What the webhook names the request by leads to this process from now on. */
export function create(
  desk: SigningDesk,
  given: Attempt & { input: unknown },
): Promise<CreatedRequest> {
  const { effect, mode } = given;
  return desk.run("create", accountIn(given.input), mode, async (account) => {
    const input = parseInput(SignOneShotInput, given.input);
    const answer = await desk.perform<{ requestPk: string; createdAt?: string }>(
      account,
      {
        reference: effect,
        operation: "create",
        input: comparedInput(SignOneShotInput, input, contentOf),
        mode,
      },
      {
        async send({ signal }) {
          const { requestPk } = await oneShot
            .create(account, input.providerFields, signal)
            .catch((error: unknown) => adoptShown(account, error));
          return { requestPk, createdAt: new Date().toISOString() };
        },
      },
    );
    const { requestPk, createdAt = new Date().toISOString() } = answer;
    const process = execution();
    await desk.has.journal.correlate({
      provider,
      account: account.name,
      reference: requestPk,
      ...process,
    });
    return { requestPk, createdAt };
  });
}

/** A 2xx that cannot be read but shows an id: where that exists, it is ours (docs/design.md §5). */
async function adoptShown(account: OneShotAttempt, error: unknown) {
  const requestPk = error instanceof ProviderError ? error.reference : undefined;
  if (requestPk === undefined || account.paths.retrieve === undefined) throw error;
  await oneShot.retrieve(account, requestPk).catch(() => {
    throw error;
  });
  return { requestPk };
}

/** P1 §1.4: the full file, or its hash. */
export function upload(
  desk: SigningDesk,
  given: Attempt & OneShotRequest & { file: OneShotPlan["documents"][number]; asHash: boolean },
): Promise<void> {
  const { effect, mode, requestPk, file, asHash } = given;
  const { name, sha256, document } = file;
  const operation = asHash ? "uploadHash" : "uploadDocument";
  return desk.run(operation, given.account, mode, async (account) => {
    const sending = desk.perform(
      account,
      {
        reference: effect,
        operation,
        input: { requestPk, name, sha256 },
        ...(document && { documents: [ownedDocument(document, "submitted")] }),
        mode,
      },
      {
        async send({ signal }) {
          if (asHash) {
            await oneShot.uploadHash(account, { requestPk, name, sha256 }, signal);
          } else {
            const uploaded = { requestPk, ...(await fileOf(desk, file)) };
            await oneShot.uploadDocument(account, uploaded, signal);
          }
          return {};
        },
        ...desk.lookUp(account, requestPk, ({ documents }) =>
          shows(documents, file) ? {} : undefined,
        ),
        ...(account.paths.retrieve !== undefined && {
          assumed: shownBy(desk, account, { requestPk, name, sha256 }),
        }),
      },
    );
    await unlessMissing(provider, operation, sending);
  });
}

interface UploadedFile {
  requestPk: string;
  name: string;
  sha256: string;
}

/** Whether `retrieve` shows what was uploaded, and under its name, is assumed (P1 §1.4, §4.4). */
function shownBy(
  desk: SigningDesk,
  account: OneShotAttempt,
  uploaded: UploadedFile,
): AssumedLookUp<UploadedFile> {
  return {
    form: nameForm(uploaded.name),
    sampleOf: () => uploaded,
    find: async (sample) => {
      const { documents } = await desk.retrieve(account, sample.requestPk);
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
  return documents.some((one) => one.name === name && (one.sha256 ?? sha256) === sha256);
}

/** As it travels. */
export async function fileOf(
  desk: SigningDesk,
  { name, document }: { name: string; document?: DocumentReference },
): Promise<{ name: string; bytes: Buffer; mediaType: string }> {
  if (!document) throw new Error("a hash has no file");
  const bytes = await readDocument(desk.has.documents, document, name);
  return { name, bytes, mediaType: document.mediaType };
}
