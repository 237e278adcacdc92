import { z } from "zod";
import {
  answer,
  decider,
  notAwaited,
  refused,
  unavailable,
  update,
} from "../definition/message-contract.js";
import { otpDefaults, otpUpdates } from "../shared/one-time-password.js";
import { DAY_SECONDS, defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { SignOneShotInput, SignOneShotResult } from "./contract.js";
import type { OneShotSettings } from "./contract.js";
import { words } from "../shared/words.js";
import { acceptContract, decideVideo, updateVideo } from "./messages.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";
export * from "./messages.js";

export const signOneShot = defineProcess({
  title: "One-shot signature",
  provider: "one-shot-signature",
  input: SignOneShotInput,
  result: SignOneShotResult,
  status: ProcessStatus,
  phases: [
    ["submitting", "tracking", "waiting", "ended"],
    ["waiting", "tracking"],
  ],
  defaults: {
    ...otpDefaults,
    requireContractAccepted: false,
    deadlineSeconds: { value: 30 * DAY_SECONDS, least: 1 },
    pollIntervalSeconds: { value: DAY_SECONDS / 4, least: 1 },
    askIntervalSeconds: { value: 60, least: 1 },
  } satisfies DefaultsFor<OneShotSettings>,
  updates: {
    ...otpUpdates,
    acceptContract: update(acceptContract, {
      description: "Accept or refuse the contract, if the input sets `requireContractAccepted`.",
      argument: z.strictObject({
        accepted: z
          .boolean()
          .describe(
            "`true`: the signature goes on; `false`: the process ends as `contractRefused`.",
          ),
        ...decider,
      }),
      answer: answer({
        accepted: "the contract counts as accepted",
        refused: "the contract counts as refused",
        notAwaited,
        unavailable,
      }),
      decides: true,
    }),
    decideVideo: update(decideVideo, {
      description: "Approve or cancel the identity video (P1 §1.4).",
      argument: z.strictObject({
        decision: words({
          approve: "approve the identity video",
          cancel: "cancel the identity video",
        }),
        ...decider,
      }),
      answer: answer({
        approved: "the provider took the approval",
        cancelled: "the provider took the cancellation",
        notAwaited,
        refused,
        unknown: "the decision may have arrived, which cannot be checked",
        unavailable,
      }),
      decides: true,
    }),
    /** Which members the request takes is not shown, and one may decide on the video, so it is a decision itself. */
    updateVideo: update(updateVideo, {
      description: "Change the request of the identity video before it is decided (P1 §1.4).",
      argument: z.strictObject({
        providerFields: z
          .record(z.string(), z.unknown())
          .describe("The whole request of the change, passed on unchanged."),
        ...decider,
      }),
      answer: answer({
        updated: "the provider took the change",
        notAwaited,
        refused,
        unknown: "the change may have arrived; the same update id never sends it again",
        unavailable,
      }),
      decides: true,
    }),
  },
  command: {
    summary: "have documents signed with a one-shot certificate",
    details: `Each document may also be { "name": "…", "document": { "path": "…" } }. The signer gets a one-time password: Submit it with "trustflow otp", or with --watch on a terminal.`,
    example: "trustflow sign-one-shot --input request.json --id order-7 --watch",
    notChecked: "the request itself: only the service knows its rules",
  },
});
