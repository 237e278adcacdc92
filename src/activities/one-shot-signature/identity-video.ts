// The identity-video sub-flow (P1 §1.4): its writes, the caller's decision, and the question how it stands.
import { contentOf } from "../../documents/content.js";
import { cancellationSignal } from "@temporalio/activity";
import { ProviderFields } from "../../contracts/shared/values.js";
import type { VideoAnswer } from "../../contracts/shared/messages.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { execution } from "../runtime/effect.js";
import { ownedDocument } from "../runtime/input.js";
import { unlessMissing } from "../runtime/missing-document.js";
import { isLeftOpen, refusalIn } from "../runtime/one-time-password.js";
import type { Attempt } from "../runtime/provider-context.js";
import { oneShot, provider } from "./context.js";
import type { OneShotAttempt, OneShotRequest, SigningDesk } from "./context.js";
import { fileOf } from "./request.js";
import type { PlannedFile } from "./request.js";

type VideoWrite = "createVideo" | "uploadEvidences" | "uploadVideo";

/** P1 §1.4: create request. */
export function createVideo(
  desk: SigningDesk,
  given: Attempt & OneShotRequest & { fields: unknown },
): Promise<void> {
  const { requestPk } = given;
  const fields = ProviderFields.parse(given.fields ?? {});
  return write(desk, "createVideo", given, { requestPk, fields }, [], (account, signal) =>
    oneShot.createVideo(account, { requestPk, fields }, signal),
  );
}

/** P1 §1.4: upload evidences. */
export function uploadEvidences(
  desk: SigningDesk,
  given: Attempt & OneShotRequest & { files: PlannedFile[] },
): Promise<void> {
  const { requestPk } = given;
  const input = { requestPk, files: given.files.map(compared) };
  return write(desk, "uploadEvidences", given, input, given.files, async (account, signal) => {
    const files = await Promise.all(given.files.map((file) => fileOf(desk, file)));
    await oneShot.uploadEvidences(account, { requestPk, files }, signal);
  });
}

/** P1 §1.4: upload video. */
export function uploadVideo(
  desk: SigningDesk,
  given: Attempt & OneShotRequest & { file: PlannedFile },
): Promise<void> {
  const { requestPk, file } = given;
  const input = { requestPk, file: compared(file) };
  return write(desk, "uploadVideo", given, input, [file], async (account, signal) => {
    await oneShot.uploadVideo(account, { requestPk, ...(await fileOf(desk, file)) }, signal);
  });
}

function compared({ name, document }: PlannedFile): object {
  return { name, document: contentOf(document) };
}

/** A write that answers nothing, once. */
function write(
  desk: SigningDesk,
  operation: VideoWrite,
  { effect, mode, ...given }: Attempt & OneShotRequest,
  input: object,
  files: PlannedFile[],
  send: (account: OneShotAttempt, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  return desk.run(operation, given.account, mode, async (account) => {
    const sending = desk.perform(
      account,
      {
        reference: effect,
        operation,
        input,
        documents: files.map(({ document }) => ownedDocument(document, "video")),
        mode,
      },
      { send: ({ signal }) => send(account, signal).then(() => ({})) },
    );
    await unlessMissing(provider, operation, sending);
  });
}

const ends = { approve: "approved", cancel: "cancelled" } as const;

/**
 * P1 §1.4: approve, cancel. The own call of the update `decideVideo`: what goes wrong is its answer
 * (docs/reading-the-specification.md §9). Where an earlier decision has ended the video, its end is the answer,
 * whatever is asked for now.
 */
export function decideVideo(
  desk: SigningDesk,
  given: Pick<Attempt, "effect"> & OneShotRequest & { decision: "approve" | "cancel" },
): Promise<VideoAnswer> {
  const { effect, requestPk, decision } = given;
  const operation = decision === "approve" ? "approveVideo" : "cancelVideo";
  return desk.run(operation, given.account, "quick", async (account) => {
    try {
      const before = await madeBefore(desk, account, requestPk);
      if (before) return { answer: before };
      await desk.effect(
        account,
        { reference: effect, operation, input: { requestPk }, mode: "quick" },
        {
          async send({ signal }) {
            await oneShot[operation](account, requestPk, signal);
            return {};
          },
        },
      );
      return { answer: ends[decision] };
    } catch (error) {
      if (refusalIn(error)) return { answer: "refused" };
      if (isLeftOpen(error)) return { answer: "unknown" };
      if (error instanceof ProviderError && error.kind === "protocol") return { answer: "refused" };
      if (error instanceof ProviderError) return { answer: "unavailable" };
      throw error;
    }
  });
}

/**
 * What earlier decisions, of other runs too, have made of the video. While nobody knows of one, the video itself is asked, and
 * another one is sent only where it shows that nothing came of it, and nothing can come any more (docs/reading-the-specification.md §0).
 */
async function madeBefore(
  desk: SigningDesk,
  account: OneShotAttempt,
  requestPk: string,
): Promise<"approved" | "cancelled" | "unknown" | undefined> {
  const { journal } = desk.has;
  const now = await journal.now();
  const rows = await journal.rows(execution());
  const tried = rows.filter(({ step }) => Object.hasOwn(ends, step));
  const answered = tried.find(({ state }) => state === "answered");
  if (answered) return ends[answered.step as keyof typeof ends];
  const open = tried.filter(({ state }) => state === "sending");
  if (open.length === 0) return undefined;
  const shown = await videoState(desk, account, requestPk).catch((error: unknown) => {
    if (error instanceof ProviderError) return undefined;
    throw error;
  });
  if (shown === "approved" || shown === "cancelled") return shown;
  const isUnderWay = open.some(({ leaseUntil }) => leaseUntil !== undefined && leaseUntil > now);
  return shown === undefined || isUnderWay ? "unknown" : undefined;
}

/** P1 §1.4: get the request. */
export async function videoState(
  desk: SigningDesk,
  account: OneShotAttempt,
  requestPk: string,
): Promise<string> {
  const { state } = await desk.reach(account, "getVideo", () =>
    oneShot.getVideo(account, requestPk, cancellationSignal()),
  );
  return state;
}
