// The identity-video sub-flow (P1 §1.4): its writes, the caller's decision, and the question how it stands.
import { cancellationSignal } from "@temporalio/activity";
import { ProviderFields } from "../../contracts/values.js";
import type { VideoAnswer } from "../../contracts/messages.js";
import { ProviderError } from "../../providers/errors.js";
import { isLeftOpen, refusalIn } from "../one-time-password.js";
import type { Attempt } from "../office.js";
import { oneShot } from "./desk.js";
import type { OneShotRequest, SigningDesk } from "./desk.js";
import { fileOf } from "./request.js";
import type { PlannedFile } from "./request.js";

/** P1 §1.4: create request. */
export function createVideo(
  desk: SigningDesk,
  given: Attempt & OneShotRequest & { fields: unknown },
): Promise<void> {
  const { effect, mode, requestPk } = given;
  return desk.run("createVideo", given.account, mode, async (account) => {
    const fields = ProviderFields.parse(given.fields ?? {});
    await desk.perform(
      account,
      { reference: effect, operation: "createVideo", input: { requestPk, fields }, mode },
      {
        async send({ signal }) {
          await oneShot.createVideo(account, { requestPk, fields }, signal);
          return {};
        },
      },
    );
  });
}

/** P1 §1.4: upload evidences. */
export function uploadEvidences(
  desk: SigningDesk,
  given: Attempt & OneShotRequest & { files: PlannedFile[] },
): Promise<void> {
  const { effect, mode, requestPk } = given;
  return desk.run("uploadEvidences", given.account, mode, async (account) => {
    const input = { requestPk, files: given.files };
    await desk.perform(
      account,
      { reference: effect, operation: "uploadEvidences", input, mode },
      {
        async send({ signal }) {
          const files = await Promise.all(given.files.map((file) => fileOf(desk, file)));
          await oneShot.uploadEvidences(account, { requestPk, files }, signal);
          return {};
        },
      },
    );
  });
}

/** P1 §1.4: upload video. */
export function uploadVideo(
  desk: SigningDesk,
  given: Attempt & OneShotRequest & { file: PlannedFile },
): Promise<void> {
  const { effect, mode, requestPk, file } = given;
  return desk.run("uploadVideo", given.account, mode, async (account) => {
    await desk.perform(
      account,
      { reference: effect, operation: "uploadVideo", input: { requestPk, file }, mode },
      {
        async send({ signal }) {
          await oneShot.uploadVideo(account, { requestPk, ...(await fileOf(desk, file)) }, signal);
          return {};
        },
      },
    );
  });
}

/** P1 §1.4: approve, cancel. The own call of the update `decideVideo`: what goes wrong is its answer (READING §9). */
export function decideVideo(
  desk: SigningDesk,
  given: Pick<Attempt, "effect"> & OneShotRequest & { decision: "approve" | "cancel" },
): Promise<VideoAnswer> {
  const { effect, requestPk, decision } = given;
  const operation = decision === "approve" ? "approveVideo" : "cancelVideo";
  return desk.run(operation, given.account, "quick", async (account) => {
    try {
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
      return { answer: decision === "approve" ? "approved" : "cancelled" };
    } catch (error) {
      if (refusalIn(error)) return { answer: "refused" };
      if (isLeftOpen(error)) return { answer: "unknown" };
      if (error instanceof ProviderError && error.kind === "protocol") return { answer: "refused" };
      if (error instanceof ProviderError) return { answer: "unavailable" };
      throw error;
    }
  });
}

/** P1 §1.4: get the request. */
export async function videoState(
  desk: SigningDesk,
  account: Parameters<SigningDesk["retrieve"]>[0],
  requestPk: string,
): Promise<string> {
  const { state } = await desk.reach(account, "getVideo", () =>
    oneShot.getVideo(account, requestPk, cancellationSignal()),
  );
  return state;
}
