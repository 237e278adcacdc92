// Every way through `signOneShot` (P1 §1.4, 4.4, 6.2; docs/reading-the-specification.md §0, §7).
import { expect } from "@jest/globals";
import { createHash } from "node:crypto";
import { callbackUrl } from "../../../src/callbacks/address.js";
import type { OneShotHandle, SignOneShotInput } from "../../../src/client.js";
import type { Decision } from "../../../src/contracts/shared/messages.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import {
  attentionOf,
  changePassword,
  decide,
  ends,
  isAbandoned,
  knowsNoAccount,
  refusesInput,
  resentWhenDue,
  start,
  temporalHandle,
} from "../../harness/histories/walk.js";
import type { PathsOf, Walk, Writing } from "../../harness/histories/walk.js";
import { codeFor } from "../issue-certificate/inputs.js";
import { signerInput, videoDecision, videoInput } from "./inputs.js";
import { statusWhere } from "../../harness/stack/stack.js";

const once = Object.fromEntries(
  ["create", "otp", "sign"].map((name) => [`one-shot-signature.${name}`, 1]),
);
const asynchronous = { variant: "asynchronous" } as const;
const stalled = "async-stalled";
/** So that nobody asks unless something makes it. */
const seldom = { pollIntervalSeconds: 3_600 };

export const signOneShotPaths: PathsOf = {
  process: "signOneShot",
  activities: [
    "prepare",
    "create",
    "upload",
    "createVideo",
    "uploadEvidences",
    "uploadVideo",
    "decideVideo",
    "contract",
    "sendOtp",
    "resendOtp",
    "sign",
    "ask",
    "fetchSigned",
    "isPast",
    "decide",
    "checkDecision",
  ],
  speed: 1,
  accounts: ["access-mended", "asynchronous", "signature-retried", "still-in-attention"],
  kept: [
    "providerFields.sandbox",
    "documents[].document.mediaType",
    "identityVideo.evidences[].document.mediaType",
    "identityVideo.video.document.mediaType",
  ],
  inputs: {
    classic: (writing) => classic(writing),
    hash: (writing) => hash(writing),
    video: (writing) => video(writing),
  },
  paths: {
    signed: (walk) => signs(walk),
    async hash(walk) {
      await entersCode(walk, await start(walk, "signOneShot", hash(walk)));
    },
    async "wrong-code"(walk) {
      const handle = await created(walk);
      expect(await tries(walk, handle)).toEqual({ answer: "wrong", triesLeft: 4 });
      await entersCode(walk, handle);
    },
    async resent(walk) {
      const handle = await created(walk);
      expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
      await entersCode(walk, handle, 1);
    },
    async "resent-when-due"(walk) {
      const handle = await created(walk, "", { settings: { resendSpacingSeconds: 2 } });
      await resentWhenDue(handle);
      await entersCode(walk, handle, 1);
    },
    async expired(walk) {
      await ends(await begin(walk, "", { settings: { holderDeadlineSeconds: 1 } }), "expired");
    },
    async locked(walk) {
      const handle = await created(walk, "", { settings: { otpTries: 1, otpResends: 0 } });
      expect(await tries(walk, handle)).toEqual({ answer: "wrong", triesLeft: 0 });
      await ends(handle, "locked");
    },

    async asynchronous(walk) {
      const { account, system } = walk;
      await system.sandbox.putAccount(account, { webhookUrl: webhookOf(walk) });
      const handle = await signing(walk, stalled, { account, settings: seldom });
      await moves(walk, "signed");
      await ends(handle, "signed");
    },
    async "asynchronous-unheard"(walk) {
      const handle = await signing(walk, `${stalled},webhook-lost`);
      await moves(walk, "signed");
      await ends(handle, "signed");
    },
    async "asynchronous-failed"(walk) {
      const handle = await signing(walk, stalled);
      await moves(walk, "failed");
      await ends(handle, "failed");
    },
    async "asynchronous-open"(walk) {
      await ends(
        await signing(walk, stalled, { settings: { deadlineSeconds: 1 } }),
        "openAtDeadline",
      );
    },

    async "video-approved"(walk) {
      const handle = await filmed(walk);
      expect(await handle.decideVideo("approve")).toEqual({ answer: "approved" });
      await entersCode(walk, handle);
    },
    async "video-cancelled"(walk) {
      const handle = await filmed(walk);
      expect(await handle.decideVideo("cancel")).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "contract-accepted"(walk) {
      const handle = await asked(walk);
      expect(await handle.acceptContract(true)).toEqual({ answer: "accepted" });
      await entersCode(walk, handle);
    },
    async "contract-accepted-by-name"(walk) {
      const handle = await asked(walk);
      const stated = { by: walk.author.words("a name"), note: walk.author.words("a note") };
      expect(await handle.acceptContract(true, undefined, stated)).toEqual({ answer: "accepted" });
      await entersCode(walk, handle);
    },
    async "contract-refused"(walk) {
      const handle = await asked(walk);
      expect(await handle.acceptContract(false)).toEqual({ answer: "refused" });
      await ends(handle, "contractRefused");
    },

    async "creation-happened"(walk) {
      const handle = await begin(walk, "create=cut-after-commit");
      await attentionOf(handle, "unknownOutcome");
      const requestPk = await requestOf(walk);
      await decide(walk, handle, "unknownOutcome", "happened", { requestPk });
      await entersCode(walk, handle);
    },
    async "creation-retried"(walk) {
      const handle = await begin(walk, "create=cut");
      await decide(walk, handle, "unknownOutcome", "retry");
      await entersCode(walk, handle);
    },
    async "creation-abandoned"(walk) {
      const handle = await begin(walk, "create=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "abandon");
      await isAbandoned(handle, "unknown");
    },
    "upload-unanswered": (walk) => signs(walk, "uploadDocument=cut-after-commit"),
    "code-unanswered": (walk) => signs(walk, "otp=cut-after-commit"),

    async "signature-found"(walk) {
      const handle = await unanswered(walk, "sign=cut-after-commit");
      await ends(handle, "signed");
      expect(await walk.system.effects(walk.intent)).toMatchObject(once);
    },
    async "signature-retried"(walk) {
      const mend = await failingToShow(walk, 503);
      const handle = await unanswered(walk, "sign=cut", { account: walk.account });
      await decide(walk, handle, "unknownOutcome", "retry");
      await awaitsCode(handle);
      await mend();
      expect(await handle.resendOtp()).toMatchObject({ answer: "sent" });
      await entersCode(walk, handle, 1);
    },
    async "signature-happened"(walk) {
      await failingToShow(walk, 400);
      const handle = await unanswered(walk, "sign=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "happened");
      // What was signed cannot be fetched either.
      await decide(walk, handle, "protocol", "happened");
      await ends(handle, "signed");
    },
    async "signature-abandoned"(walk) {
      const handle = await unanswered(walk, "sign=cut");
      await decide(walk, handle, "unknownOutcome", "abandon");
      await isAbandoned(handle, "exists");
    },

    async "access-mended"(walk) {
      const { handle, mend } = await denied(walk);
      await mend();
      await entersCode(walk, handle);
    },
    async "not-accepted"(walk) {
      const handle = await begin(walk, "create=reject-400");
      await expect(handle.result()).rejects.toMatchObject({ provider: "one-shot-signature" });
    },
    "invalid-input": (walk) => refusesInput(walk, { ...classic(walk), documents: [] }),
    "unknown-account": (walk) => knowsNoAccount(walk, classic(walk)),
    async "input-mismatch"(walk) {
      await created(walk);
      await temporalHandle(walk).terminate();
      const another = { providerFields: { reference: walk.author.words("another request") } };
      const handle = await begin(walk, "", another);
      await expect(handle.result()).rejects.toThrow(/another input/);
    },

    async "cancelled-while-the-signer-is-awaited"(walk) {
      const handle = await created(walk);
      await cancelled(walk, handle, "abandon");
      await isAbandoned(handle, "exists");
    },
    async "cancel-withdrawn"(walk) {
      const handle = await created(walk);
      await cancelled(walk, handle, "retry");
      await entersCode(walk, handle);
    },
    async "cancelled-while-the-video-is-awaited"(walk) {
      const handle = await filmed(walk);
      await cancelled(walk, handle, "abandon");
      await isAbandoned(handle, "exists");
    },
    async "cancelled-while-signing"(walk) {
      const handle = await signing(walk, stalled, { settings: seldom });
      await cancelled(walk, handle, "abandon");
      await isAbandoned(handle, "exists");
    },

    async "taken-up-again"(walk) {
      await created(walk);
      await temporalHandle(walk).terminate();
      await signs(walk);
      expect(await walk.system.effects(walk.intent)).toMatchObject(once);
    },
    async "still-open"(walk) {
      await created(walk);
    },
    async "still-in-attention"(walk) {
      await denied(walk);
    },
  },
};

/** The author's words in the payload, however deep, and in the names of the documents, which have no slash. */
function written({ author }: Writing, input: SignOneShotInput): SignOneShotInput {
  const { providerFields, documents } = input;
  const person = { name: "Ada", addresses: ["Calle Mayor 1", { floor: "first" }] };
  return {
    ...input,
    providerFields: { ...providerFields, person, [author.words("a member")]: "whatever it is" },
    documents: documents.map((file) => ({
      ...file,
      name: `${author.words("a document")}-${file.name}`,
    })),
  };
}

function classic(writing: Writing, words = "", more: Partial<SignOneShotInput> = {}) {
  return written(writing, signerInput(writing.intent, words, more));
}

function hash(writing: Writing): SignOneShotInput {
  const sha256 = createHash("sha256").update("kept by the caller").digest("hex");
  return classic(writing, "", { variant: "hash", documents: [{ name: "kept.pdf", sha256 }] });
}

function video(writing: Writing): SignOneShotInput {
  const input = written(writing, videoInput(writing.intent));
  const { evidences = [], video: film } = input.identityVideo ?? {};
  if (!film) throw new Error("there is a video");
  const named = (file: typeof film) => ({
    ...file,
    name: `${writing.author.words("a file of the video")}-${file.name}`,
  });
  return {
    ...input,
    settings: { ...input.settings, ...seldom },
    identityVideo: {
      evidences: evidences.map(named),
      video: named(film),
      providerFields: { operator: { name: "Grace" } },
    },
  };
}

function begin(
  walk: Walk,
  words = "",
  more: Partial<SignOneShotInput> = {},
): Promise<OneShotHandle> {
  return start(walk, "signOneShot", classic(walk, words, more));
}

/** Until the signer is waited for. */
async function created(walk: Walk, words = "", more: Partial<SignOneShotInput> = {}) {
  const handle = await begin(walk, words, more);
  await awaitsCode(handle);
  return handle;
}

async function awaitsCode(handle: OneShotHandle): Promise<void> {
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
}

async function awaits(handle: OneShotHandle, what: string): Promise<void> {
  await statusWhere(handle, ({ waitingFor }) => waitingFor === what);
}

/** A code that is none, full of the author's words. */
function tries({ author }: Walk, handle: OneShotHandle) {
  return handle.submitOtp(author.secret("code", author.words("code")));
}

/** The newest code, which came after so many others. */
async function submits(walk: Walk, handle: OneShotHandle, after = 0) {
  await awaitsCode(handle);
  const code = await codeFor(walk.system.sandbox, walk.intent, after);
  return handle.submitOtp(walk.author.secret("code", code));
}

async function entersCode(walk: Walk, handle: OneShotHandle, after = 0): Promise<void> {
  expect(await submits(walk, handle, after)).toEqual({ answer: "accepted" });
  await ends(handle, "signed");
}

async function signs(walk: Walk, words = ""): Promise<void> {
  await entersCode(walk, await begin(walk, words));
}

/** The signer's code got no answer. */
async function unanswered(walk: Walk, words: string, more: Partial<SignOneShotInput> = {}) {
  const handle = await begin(walk, words, more);
  expect(await submits(walk, handle)).toEqual({ answer: "unknown" });
  return handle;
}

/** The code was taken, and the signature goes on. */
async function signing(walk: Walk, words: string, more: Partial<SignOneShotInput> = {}) {
  const handle = await begin(walk, words, { ...asynchronous, ...more });
  expect(await submits(walk, handle)).toEqual({ answer: "accepted" });
  if (more.settings?.deadlineSeconds === undefined)
    await awaits(handle, "the signature service to finish");
  return handle;
}

/** The identity video waits for a decision. */
async function filmed(walk: Walk) {
  const handle = await start(walk, "signOneShot", video(walk));
  await awaits(handle, videoDecision);
  return handle;
}

/** The contract waits to be accepted. */
async function asked(walk: Walk) {
  const handle = await begin(walk, "", { settings: { requireContractAccepted: true } });
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the contract to be accepted");
  return handle;
}

/** As the provider knows it. */
async function requestOf({ system, intent }: Walk): Promise<string> {
  const [item] = (await system.sandbox.items({ intent })).items;
  return item?.id ?? "";
}

async function moves(walk: Walk, state: "signed" | "failed"): Promise<void> {
  await walk.system.sandbox.move(await requestOf(walk), { state });
}

/** Of the path's own account. */
function webhookOf({ system, account }: Walk): string {
  const { env } = system.stack;
  const ring = KeyRing.parse(env["TRUSTFLOW_KEYS__CALLBACK"] ?? "");
  const subject = { provider: "one-shot-signature", account };
  return callbackUrl(ring, env["TRUSTFLOW_CALLBACKS__PUBLIC_URL"] ?? "", subject);
}

/** The provider shows nothing of the path's request, until that is mended. */
async function failingToShow({ system, intent }: Walk, status: number) {
  const { id } = await system.sandbox.addFault({
    operation: "one-shot-signature.retrieve",
    lookupKey: intent,
    kind: "reject",
    status,
    times: "always",
  });
  return () => system.sandbox.removeFault(id);
}

async function denied(walk: Walk) {
  const mend = await changePassword(walk);
  const handle = await begin(walk, "", { account: walk.account });
  await attentionOf(handle, "accessDenied");
  return { handle, mend };
}

/** Cancelled in the Web UI while it waits, and what a person makes of it. */
async function cancelled(walk: Walk, handle: OneShotHandle, decision: Decision): Promise<void> {
  await temporalHandle(walk).cancel();
  await decide(walk, handle, "cancelRequested", decision);
}
