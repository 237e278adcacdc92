// The contract, the signer's code, the signature, and what was signed (P1 §1.4, §4.4).
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { sha256Of, isPdf } from "../../documents/content.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import * as oneShot from "../../providers/one-shot-signature/client.js";
import { otpVerdict } from "../../providers/one-shot-signature/translate.js";
import type { StepCall, UpdateCall } from "../runtime/activity.js";
import { keepFile } from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import type { EffectKey } from "../runtime/effect.js";
import { NotChangedYet } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import { firstCode, refusalIn, resendResultOf, tryResultOf } from "../runtime/one-time-password.js";
import type { FirstCode, OtpResult, SentAgain } from "../runtime/one-time-password.js";
import { isSatisfied, notFoundError } from "../runtime/polling.js";
import type { PollRequest } from "../runtime/polling.js";
import { keptBeforeDeletion, mayBeDeleted } from "./deletion.js";
import type { OneShotContext, OneShotRequest } from "./context.js";
import { videoState } from "./identity-video.js";
import { isSameName } from "./request.js";

/** P1 §1.4: retrieved, and kept under our own hash. */
export async function contract(
  context: OneShotContext,
  { requestPk }: OneShotRequest & { mode: AttemptMode },
): Promise<ProcessDocument> {
  return context.deps.documents.withSpool(async (spool) => {
    const { file, mediaType } = await context.ask("contract", oneShot.contract, requestPk, spool);
    const target = {
      kind: "contract",
      ids: [requestPk, "contract", "contract"],
      mediaType,
    } as const;
    return { ...(await keepFile(context, target, file)), description: "contract" };
  });
}

/** P1 §4.4: the provider sends the signer a code. */
export function sendOtp(
  context: OneShotContext,
  given: StepCall & OneShotRequest,
): Promise<FirstCode> {
  const sending = sendCode(context, given, "step");
  return firstCode(context, { send: "otp", try: "sign" }, sending, context.mode);
}

export function resendOtp(
  context: OneShotContext,
  given: UpdateCall & OneShotRequest,
): Promise<SentAgain> {
  return resendResultOf(context, "otp", sendCode(context, given, "update"));
}

function sendCode(
  context: OneShotContext,
  { effect, requestPk }: UpdateCall & OneShotRequest,
  of: "step" | "update",
): Promise<unknown> {
  return runEffect(context, effect, {
    of,
    operation: "otp",
    input: { requestPk },
    send: ({ signal }) => oneShot.otp(context.account, requestPk, signal),
  });
}

/** `signing`: the signature goes on, and a webhook or a poll shows its end. */
export type Signed = OtpResult & { state?: "signed" | "signing" };

/** Answers the update `submitOtp`; with `watch`, it only looks whether it has become known that the request was signed. */
export async function sign(
  context: OneShotContext,
  given: StepCall & OneShotRequest & { otp: string },
): Promise<Signed> {
  const { account, mode } = context;
  const { effect, requestPk } = given;
  type State = { state: "signed" | "signing" } | undefined;
  const before = mode === "watch" ? undefined : await triedBefore(context, effect);
  if (before) return before;
  try {
    const answer = await runEffect(context, effect, {
      of: "update",
      operation: "sign",
      input: { requestPk },
      prepare: () => context.openCode(given.otp),
      // An operator's `happened` supplies no state.
      send: ({ prepared: otp, signal }): Promise<State> =>
        oneShot.sign(account, { requestPk, otp }, signal),
      ...context.lookUp<State>(requestPk, ({ state }) =>
        state === "signed" || state === "signing" ? { state } : undefined,
      ),
    });
    return { verdict: "accepted", ...(answer?.state && { state: answer.state }) };
  } catch (error) {
    if (mode === "watch" && !refusalIn(error)) throw error;
    return tryResultOf(error, (refusal) => otpVerdict(account, refusal));
  }
}

/** An earlier try that may have signed, also where its update was answered as `unavailable` because the journal was away. */
async function triedBefore(
  context: OneShotContext,
  { step, occurrence }: EffectKey,
): Promise<Signed | undefined> {
  const { standing } = await context.readStepHistory(step);
  if (!standing || standing.occurrence === occurrence) return undefined;
  if (!standing.isAnswered)
    return { verdict: "unknown", isOpen: true, occurrence: standing.occurrence };
  return { verdict: "accepted", ...(standing.answer as Pick<Signed, "state"> | undefined) };
}

export interface OneShotSnapshot {
  /** The database's clock before the question was sent. */
  stamp: string;
  state: string;
  fingerprint: string;
  /** Absent in histories from before it was told: of either. */
  about?: "request" | "video";
}

const ends = new Set(["signed", "failed", "cancelled", "approved"]);

type OneShotPollRequest = OneShotRequest & PollRequest & { about: "request" | "video" };

/** One poll of the request, or of its identity video. */
export async function ask(
  context: OneShotContext,
  given: OneShotPollRequest,
): Promise<OneShotSnapshot> {
  const { requestPk, about } = given;
  const stamp = await context.stamp();
  const state =
    about === "video"
      ? await videoState(context, requestPk)
      : await requestState(context, requestPk);
  if (!isSatisfied(given, state, ends.has(state))) throw new NotChangedYet();
  return { stamp, state, fingerprint: `${about} ${state}`, about };
}

/** A request whose documents this process has deleted, which the provider may no longer show, was signed before. */
async function requestState(context: OneShotContext, requestPk: string): Promise<string> {
  try {
    return (await context.retrieve(requestPk)).state;
  } catch (error) {
    const isGone = error instanceof ProviderError && error.kind === "notVisibleYet";
    if (isGone && (await mayBeDeleted(context))) return "signed";
    throw error;
  }
}

/**
 * P1 §1.4: the signed documents: each of the `files` that were uploaded, and none with other bytes. The client has checked
 * the provider's own digest.
 */
export async function fetchSigned(
  context: OneShotContext,
  given: OneShotRequest & { mode: AttemptMode; files?: { name: string; sha256: string }[] },
): Promise<ProcessDocument[]> {
  const { requestPk, files = [] } = given;
  if (files.length > 0 && (await mayBeDeleted(context))) {
    const names = files.map(({ name }) => name);
    const before = await keptBeforeDeletion(context, requestPk, names);
    if (before) return before;
  }
  const retrieved = await context.retrieve(requestPk);
  const ownName = (name: string) => files.find((file) => isSameName(file.name, name))?.name ?? name;
  const documents = retrieved.documents.map((one) => ({ ...one, name: ownName(one.name) }));
  const shown = new Map(documents.map((document) => [document.name, document]));
  if (files.some(({ name, sha256 }) => (shown.get(name)?.sha256 ?? sha256) !== sha256))
    throw context.problem("retrieve", "another document than ours was signed");
  const signed = documents.flatMap(({ name, signed: bytes }) => (bytes ? [{ name, bytes }] : []));
  const isWhole = signed.length === documents.length && files.every(({ name }) => shown.has(name));
  if (!isWhole || signed.length === 0) {
    const all = files.length || documents.length;
    const detail = `the answer has ${signed.length} of ${all} signed documents`;
    throw notFoundError(context, "retrieve", detail);
  }
  return Promise.all(
    signed.map(async ({ name, bytes }) => {
      const mediaType = isPdf(bytes) ? "application/pdf" : "application/octet-stream";
      const target = { kind: "signed", ids: [requestPk, "signed", name], mediaType } as const;
      const file = { sha256: sha256Of(bytes), pieces: () => [bytes] };
      return { ...(await keepFile(context, target, file)), description: name };
    }),
  );
}
