// `signOneShot` as the harnesses take it: its signer reads the codes in the sandbox's outbox, its caller approves the video.
import { createHash } from "node:crypto";
import type { OneShotHandle } from "../../../src/client.js";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { codeFor } from "../issue-certificate/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { DAY_SECONDS } from "../../../src/contracts/definition/process-contract.js";
import { callsOf } from "../process-under-test.js";
import type { CallsOf, ProcessUnderTest, Scene } from "../process-under-test.js";
import { signerInput, videoDecision, videoInput } from "./inputs.js";

const provider = "one-shot-signature";
type Unused = "listTokens" | "createToken";

const named = (effects: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(effects).map(([name, count]) => [`${provider}.${name}`, count]),
  );
const plain = { create: 1, uploadDocument: 2, otp: 1, sign: 1 };
const signed = { outcome: "signed", variant: {} };
const ofVideo = {
  variant: { form: "video" },
  effects: named({ ...plain, createIdentityVideo: 1, uploadEvidences: 1, uploadVideo: 1 }),
};
const ofApproved = {
  outcome: "signed",
  variant: ofVideo.variant,
  effects: { ...ofVideo.effects, [`${provider}.approveIdentityVideo`]: 1 },
};
const sha256 = createHash("sha256").update("kept by the caller").digest("hex");
const ofHash = {
  outcome: "signed",
  variant: { input: { variant: "hash", documents: [{ name: "kept.pdf", sha256 }] } },
  effects: named({ create: 1, uploadHash: 1, otp: 1, sign: 1 }),
};

const calls: CallsOf<typeof provider, OneShotHandle, Unused> = {
  create: { activity: "create", ...signed },
  uploadDocument: { activity: "upload", step: "upload-0", ...signed },
  uploadHash: { activity: "upload", step: "upload-0", ...ofHash },
  createVideo: { activity: "createVideo", ...ofApproved },
  uploadEvidences: { activity: "uploadEvidences", ...ofApproved },
  uploadVideo: { activity: "uploadVideo", ...ofApproved },
  approveVideo: {
    activity: "decideVideo",
    step: "approve",
    ...ofApproved,
    ask: decide("approve"),
  },
  cancelVideo: {
    activity: "decideVideo",
    step: "cancel",
    outcome: "cancelled",
    variant: ofVideo.variant,
    effects: named({
      ...{ create: 1, uploadDocument: 2, createIdentityVideo: 1, uploadEvidences: 1 },
      ...{ uploadVideo: 1, cancelIdentityVideo: 1 },
    }),
    ask: decide("cancel"),
  },
  updateVideo: {
    activity: "updateVideo",
    outcome: "signed",
    variant: ofVideo.variant,
    effects: { ...ofApproved.effects, [`${provider}.updateIdentityVideo`]: 1 },
    ask: async (handle, updateId) => {
      await personsTurn(handle);
      return handle.updateVideo({ room: 2 }, updateId);
    },
  },
  getVideo: { activity: "ask", ...ofApproved },
  contract: { activity: "contract", ...signed },
  otp: { activity: "sendOtp", step: "otp", ...signed },
  sign: {
    activity: "sign",
    ...signed,
    ask: async (handle, updateId, scene) =>
      handle.submitOtp(await codeFor(sandboxControl(scene.sandboxUrl), scene.intent), updateId),
  },
  retrieve: {
    activity: "ask",
    outcome: "signed",
    variant: { words: "async", input: { variant: "asynchronous" } },
  },
  deleteDocuments: {
    activity: "deleteDocuments",
    outcome: "signed",
    variant: { input: { deleteDocuments: true } },
  },
};

export const signOneShotUnderTest: ProcessUnderTest<OneShotHandle> = {
  process: "signOneShot",
  provider,
  words: "",
  outcome: "signed",
  effects: named(plain),
  repeats: [`${provider}.otp`],
  longWays: [
    signed,
    {
      ...ofApproved,
      variant: { form: "video", input: { settings: { deadlineSeconds: 60 * DAY_SECONDS } } },
    },
    {
      variant: { words: "async-stalled", input: { variant: "asynchronous" } },
      outcome: "openAtDeadline",
    },
  ],
  calls: callsOf<typeof provider, OneShotHandle, Unused>(provider, calls, {
    createVideo: "createIdentityVideo",
    approveVideo: "approveIdentityVideo",
    cancelVideo: "cancelIdentityVideo",
    updateVideo: "updateIdentityVideo",
    getVideo: "getIdentityVideo",
  }),
  start(trustflow, id, { words = "", form, input } = {}) {
    const base = form === "video" ? videoInput(id, words) : signerInput(id, words);
    return trustflow.signOneShot(id, { ...base, ...input });
  },
  play,
};

/** The caller's word on the video, once it is uploaded. */
function decide(decision: "approve" | "cancel") {
  return async (handle: OneShotHandle, updateId: string) => {
    await personsTurn(handle);
    return handle.decideVideo(decision, updateId);
  };
}

async function personsTurn(handle: OneShotHandle): Promise<void> {
  const what = `${handle.id} asks for a decision or a code`;
  await eventually(what, () => isPersonsTurn(handle), 60_000);
}

/** It waits for the decision; after a termination it may be past it. */
async function isPersonsTurn(handle: OneShotHandle): Promise<boolean> {
  const { waitingFor, attention, outcome } = await handle.status();
  const isWaiting = [videoDecision, "the holder's code"].includes(waitingFor ?? "");
  return isWaiting || attention !== undefined || outcome !== undefined;
}

/** Signer and caller: the video is approved and the newest code entered; if none has come, another is requested. */
async function play(handle: OneShotHandle, { sandboxUrl, intent }: Scene): Promise<void> {
  const { waitingFor, references } = await handle.status();
  if (waitingFor === videoDecision) {
    await handle.decideVideo("approve");
    return;
  }
  if (waitingFor !== "the holder's code" || references["requestPk"] === undefined) return;
  const code = (await sandboxControl(sandboxUrl).messages(intent)).at(-1)?.otp;
  const { answer } = code === undefined ? { answer: "none" } : await handle.submitOtp(code);
  if (["none", "wrong", "expired"].includes(answer)) await handle.resendOtp();
}
