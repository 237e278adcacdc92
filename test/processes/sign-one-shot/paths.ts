// The ways through `signOneShot` whose histories differ (P1 §1.4, 4.4, 6.2; docs/reading-the-specification.md §0, §7).
import { expect } from "vitest";
import { createHash } from "node:crypto";
import type { OneShotHandle, SignOneShotInput } from "../../../src/client.js";
import { callbackAddress } from "../../harness/stack/inbox.js";
import {
  attentionOf,
  decide,
  decided,
  ends,
  freeFields,
  isAbandonedWith,
  notAccepted,
  refusesInput,
  resentWhenDue,
  start,
} from "../../harness/histories/path-run.js";
import type { PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { codeFor } from "../issue-certificate/inputs.js";
import {
  awaits,
  cancelled,
  itemOf,
  mended,
  refusedFor,
  unbroken,
  waitingFor,
  waysOf,
} from "../ways.js";
import { signerInput, videoDecision, videoInput } from "./inputs.js";

type More = Partial<SignOneShotInput>;

const once = Object.fromEntries(
  ["create", "otp", "sign"].map((name) => [`one-shot-signature.${name}`, 1]),
);
const uploads = "one-shot-signature.uploadDocument";
const asynchronous = { variant: "asynchronous" } as const;
const stalled = "async-stalled";
/** What shows the request. */
const shown = "one-shot-signature.retrieve";
/** So that no poll happens unless a callback triggers it. */
const seldom = { pollIntervalSeconds: 3_600 };

const { through, opened: created, denied } = waysOf(begin, waitingFor("the holder's code"));
const doubted = decided(begin, "unknownOutcome");
const unheard = decided(unanswered, "unknownOutcome");

export const signOneShotPaths: PathsOf = {
  process: "signOneShot",
  speed: 1,
  accounts: ["access-mended", "asynchronous", "signature-retried"],
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
    async signed(run) {
      const handle = await begin(run);
      await entersCode(run, handle);
      const { documents, ...result } = await handle.result();
      expect(documents.map(({ kind }) => kind)).toEqual([
        ...["submitted", "submitted"],
        ...["contract", "signed", "signed"],
      ]);
      expect(result).not.toHaveProperty("documentsDeleted");
      expect(await run.system.effects(run.intent)).toEqual({ ...once, [uploads]: 2 });
    },
    async hash(run) {
      await entersCode(run, await start(run, "signOneShot", hash(run)));
      const uploaded = { "one-shot-signature.uploadHash": 1 };
      expect(await run.system.effects(run.intent)).toEqual({ ...once, ...uploaded });
    },
    async "documents-deleted"(run) {
      const handle = await created(run, "", { deleteDocuments: true });
      await entersCode(run, handle);
      expect(await handle.result()).toMatchObject({ documentsDeleted: true });
      const effects = { [uploads]: 2, "one-shot-signature.deleteDocuments": 1 };
      expect(await run.system.effects(run.intent)).toEqual({ ...once, ...effects });
    },
    async "wrong-code"(run) {
      const handle = await created(run);
      expect(await tries(run, handle)).toEqual({ answer: "wrong", triesLeft: 4 });
      await entersCode(run, handle);
    },
    async "resent-when-due"(run) {
      const handle = await created(run, "", { settings: { resendSpacingSeconds: 2 } });
      await resentWhenDue(handle);
      await entersCode(run, handle, 1);
    },
    expired: through("expired", "", { settings: { holderDeadlineSeconds: 1 } }),
    async locked(run) {
      const handle = await created(run, "", { settings: { otpTries: 1, otpResends: 0 } });
      expect(await tries(run, handle)).toEqual({ answer: "wrong", triesLeft: 0 });
      await ends(handle, "locked");
    },

    async asynchronous(run) {
      const { account, system } = run;
      await system.sandbox.putAccount(account, { webhookUrl: webhookOf(run) });
      const handle = await signing(run, stalled, { account, settings: seldom });
      await moves(run, "signed");
      await ends(handle, "signed");
    },
    async "asynchronous-unheard"(run) {
      const handle = await signing(run, `${stalled},webhook-lost`);
      await moves(run, "signed");
      await ends(handle, "signed");
    },
    async "asynchronous-failed"(run) {
      const handle = await signing(run, stalled);
      await moves(run, "failed");
      await ends(handle, "failed");
    },

    async "video-approved"(run) {
      const handle = await filmed(run);
      expect(await handle.decideVideo("approve")).toEqual({ answer: "approved" });
      await entersCode(run, handle);
    },
    async "video-updated"(run) {
      const handle = await filmed(run);
      const fields = { [run.author.words("a member")]: run.author.words("a value") };
      expect(await handle.updateVideo(fields)).toEqual({ answer: "updated" });
      expect(await handle.decideVideo("cancel")).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
      expect(await handle.updateVideo(fields).catch(({ name }) => name)).toBe("FinishedError");
    },
    async "contract-accepted-by-name"(run) {
      const handle = await asked(run);
      const stated = { by: run.author.words("a name"), note: run.author.words("a note") };
      expect(await handle.acceptContract(true, undefined, stated)).toEqual({ answer: "accepted" });
      await entersCode(run, handle);
    },
    async "contract-refused"(run) {
      const handle = await asked(run);
      expect(await handle.acceptContract(false)).toEqual({ answer: "refused" });
      await ends(handle, "contractRefused");
    },

    async "creation-happened"(run) {
      const handle = await begin(run, "create=cut-after-commit");
      await attentionOf(handle, "unknownOutcome");
      const requestPk = await itemOf(run);
      await decide(run, handle, "unknownOutcome", "happened", { requestPk });
      await entersCode(run, handle);
    },
    "creation-retried": doubted("create=cut", "retry", entersCode),
    "creation-abandoned": doubted("create=cut-after-commit", "abandon", isAbandonedWith("unknown")),

    async "signature-found"(run) {
      const handle = await unanswered(run, "sign=cut-after-commit");
      await ends(handle, "signed");
      expect(await run.system.effects(run.intent)).toMatchObject(once);
    },
    async "signature-retried"(run) {
      const { mend } = await refusedFor(run, shown, 503);
      const handle = await unanswered(run, "sign=cut", { account: run.account });
      await decide(run, handle, "unknownOutcome", "retry");
      await awaits(handle, "the holder's code");
      await mend();
      expect(await handle.resendOtp()).toMatchObject({ answer: "sent" });
      await entersCode(run, handle, 1);
    },
    async "signature-happened"(run) {
      await refusedFor(run, shown, 400);
      const handle = await unanswered(run, "sign=cut-after-commit");
      await decide(run, handle, "unknownOutcome", "happened");
      // What was signed cannot be fetched either.
      await decide(run, handle, "protocol", "happened");
      await ends(handle, "signed");
    },
    "signature-abandoned": unheard("sign=cut", "abandon", isAbandonedWith("exists")),

    "access-mended": mended(denied, entersCode),
    "not-accepted": notAccepted(begin, "create=reject-400", "one-shot-signature"),
    "invalid-input": (run) => refusesInput(run, { ...classic(run), documents: [] }),

    "cancel-withdrawn": cancelled(unbroken((run) => created(run)))("retry", entersCode),
    "cancelled-while-the-video-is-awaited": cancelled(unbroken(filmed))(
      "abandon",
      isAbandonedWith("exists"),
    ),
    "cancelled-while-signing": cancelled(
      unbroken((run) => signing(run, stalled, { settings: seldom })),
    )("abandon", isAbandonedWith("exists")),
  },
};

/** The author's words in the payload, however deep, and in the names of the documents, which have no slash. */
function written(writing: Writing, input: SignOneShotInput): SignOneShotInput {
  const { providerFields, documents } = input;
  return {
    ...input,
    providerFields: { ...providerFields, ...freeFields(writing) },
    documents: documents.map((file) => ({
      ...file,
      name: `${writing.author.words("a document")}-${file.name}`,
    })),
  };
}

function classic(writing: Writing, words = "", more: More = {}) {
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

function begin(run: PathRun, words?: string, more?: More): Promise<OneShotHandle> {
  return start(run, "signOneShot", classic(run, words, more));
}

/** A code that is none, full of the author's words. */
function tries({ author }: PathRun, handle: OneShotHandle) {
  return handle.submitOtp(author.secret("code", author.words("code")));
}

/** The newest code, which came after so many others. */
async function submits(run: PathRun, handle: OneShotHandle, after = 0) {
  await awaits(handle, "the holder's code");
  const code = await codeFor(run.system.sandbox, run.intent, after);
  return handle.submitOtp(run.author.secret("code", code));
}

async function entersCode(run: PathRun, handle: OneShotHandle, after = 0): Promise<void> {
  expect(await submits(run, handle, after)).toEqual({ answer: "accepted" });
  await ends(handle, "signed");
}

/** The signer's code got no answer. */
async function unanswered(run: PathRun, words: string, more?: More) {
  const handle = await begin(run, words, more);
  expect(await submits(run, handle)).toEqual({ answer: "unknown" });
  return handle;
}

/** The code was taken, and the signature goes on. */
async function signing(run: PathRun, words: string, more: More = {}) {
  const handle = await begin(run, words, { ...asynchronous, ...more });
  expect(await submits(run, handle)).toEqual({ answer: "accepted" });
  await awaits(handle, "the signature service to finish");
  return handle;
}

/** The identity video waits for a decision: no code has gone out. */
async function filmed(run: PathRun) {
  const handle = await start(run, "signOneShot", video(run));
  await awaits(handle, videoDecision);
  expect(await run.system.sandbox.messages(run.intent)).toEqual([]);
  return handle;
}

/** The contract waits to be accepted: no code has gone out. */
async function asked(run: PathRun) {
  const handle = await begin(run, "", { settings: { requireContractAccepted: true } });
  await awaits(handle, "the acceptance of the contract");
  expect(await run.system.sandbox.messages(run.intent)).toEqual([]);
  return handle;
}

async function moves(run: PathRun, state: "signed" | "failed"): Promise<void> {
  await run.system.sandbox.move(await itemOf(run), { state });
}

/** Of the path's own account. */
function webhookOf({ system, account }: PathRun): string {
  return callbackAddress(system, { provider: "one-shot-signature", account });
}
