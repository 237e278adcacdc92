// The contract, the signer's code, the signature, and what was signed (P1 §1.4, §4.4).
import { cancellationSignal } from "@temporalio/activity";
import { createHash } from "node:crypto";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { derivedDocumentId } from "../../documents/document-id.js";
import { isPdf } from "../../documents/pdf.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { otpVerdict } from "../../providers/one-shot-signature/translate.js";
import { execution } from "../runtime/effect.js";
import { NotChangedYet } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import { firstCode, refusalIn, sentAgain, triedWith } from "../runtime/one-time-password.js";
import type { FirstCode, SentAgain, Tried } from "../runtime/one-time-password.js";
import type { Attempt } from "../runtime/provider-context.js";
import { isSatisfied, notThere } from "../runtime/polling.js";
import type { PollRequest } from "../runtime/polling.js";
import { oneShot, provider } from "./context.js";
import type { OneShotRequest, SigningDesk } from "./context.js";
import { videoState } from "./identity-video.js";

/** P1 §1.4: retrieved, and kept under our own hash. */
export function contract(
  desk: SigningDesk,
  given: OneShotRequest & { mode: AttemptMode },
): Promise<ProcessDocument> {
  const { requestPk, mode } = given;
  return desk.run("contract", given.account, mode, async (account) => {
    const { bytes, mediaType } = await desk.reach(account, "contract", () =>
      oneShot.contract(account, requestPk, cancellationSignal()),
    );
    return kept(desk, requestPk, { kind: "contract", name: "contract", bytes, mediaType });
  });
}

/** P1 §4.4: the provider sends the signer a code. */
export function sendOtp(desk: SigningDesk, given: Attempt & OneShotRequest): Promise<FirstCode> {
  const { effect, mode, requestPk } = given;
  return desk.run("otp", given.account, mode, async (account) => {
    const sending = desk.perform(
      account,
      { reference: effect, operation: "otp", input: { requestPk }, mode },
      { send: ({ signal }) => oneShot.otp(account, requestPk, signal).then(nothing) },
    );
    return firstCode(desk, { send: "otp", try: "sign" }, sending, mode);
  });
}

/** The own call of the update `resendOtp`. */
export function resendOtp(
  desk: SigningDesk,
  given: Pick<Attempt, "effect"> & OneShotRequest,
): Promise<SentAgain> {
  const { effect, requestPk } = given;
  return desk.run("otp", given.account, "quick", (account) =>
    sentAgain(
      desk,
      "otp",
      desk.effect(
        account,
        { reference: effect, operation: "otp", input: { requestPk }, mode: "quick" },
        { send: ({ signal }) => oneShot.otp(account, requestPk, signal).then(nothing) },
      ),
    ),
  );
}

/** `signing`: it goes on, and a webhook or a question tells its end. */
export type Signed = Tried & { state?: "signed" | "signing" };

/** The own call of the update `submitOtp`; with `watch`, only whether it has become known that it was signed. */
export function sign(
  desk: SigningDesk,
  given: Attempt & OneShotRequest & { otp: string },
): Promise<Signed> {
  const { effect, mode, requestPk } = given;
  return desk.run("sign", given.account, mode, async (account) => {
    try {
      // Where a person said that it has happened, nothing more is known.
      const answer = await desk.effect<{ state: "signed" | "signing" } | undefined>(
        account,
        { reference: effect, operation: "sign", input: { requestPk }, mode },
        {
          send: async ({ signal }) => {
            const otp = desk.openCode(given.otp);
            return oneShot.sign(account, { requestPk, otp }, signal);
          },
          ...desk.lookUp(account, requestPk, ({ state: shown }) =>
            shown === "signed" || shown === "signing" ? { state: shown } : undefined,
          ),
        },
      );
      return { verdict: "accepted", ...(answer?.state && { state: answer.state }) };
    } catch (error) {
      if (mode === "watch" && !refusalIn(error)) throw error;
      return triedWith(error, (refusal) => otpVerdict(account, refusal));
    }
  });
}

export interface OneShotSnapshot {
  /** The database's clock before the question was sent. */
  stamp: string;
  state: string;
  fingerprint: string;
}

const ends = new Set(["signed", "failed", "cancelled", "approved"]);

/** How the request, or its identity video, stands; asked again until it is `wait`ed for. */
export function ask(
  desk: SigningDesk,
  given: OneShotRequest & PollRequest & { about: "request" | "video" },
): Promise<OneShotSnapshot> {
  const { requestPk, about, mode } = given;
  const operation = about === "video" ? "getVideo" : "retrieve";
  return desk.run(operation, given.account, mode, async (account) => {
    const stamp = (await desk.has.journal.now()).toISOString();
    const state =
      about === "video"
        ? await videoState(desk, account, requestPk)
        : (await desk.retrieve(account, requestPk)).state;
    if (!isSatisfied(given, state, ends.has(state))) throw new NotChangedYet();
    return { stamp, state, fingerprint: state };
  });
}

/**
 * P1 §1.4: what was signed, each of the `files` that were uploaded and none of other bytes; the provider's own digest was
 * checked against it.
 */
export function fetchSigned(
  desk: SigningDesk,
  given: OneShotRequest & { mode: AttemptMode; files?: { name: string; sha256: string }[] },
): Promise<ProcessDocument[]> {
  const { requestPk, mode, files = [] } = given;
  return desk.run("retrieve", given.account, mode, async (account) => {
    const { documents } = await desk.retrieve(account, requestPk);
    const shown = new Map(documents.map((document) => [document.name, document]));
    if (files.some(({ name, sha256 }) => (shown.get(name)?.sha256 ?? sha256) !== sha256))
      throw new ProviderError({ ...isAnother, provider, operation: "retrieve" });
    const signed = documents.flatMap(({ name, signed: bytes }) => (bytes ? [{ name, bytes }] : []));
    const isWhole =
      signed.length === documents.length && files.every(({ name }) => shown.has(name));
    if (!isWhole || signed.length === 0)
      throw notThere(provider, "retrieve", "a signed document is not in the answer");
    return Promise.all(
      signed.map(({ name, bytes }) => {
        const mediaType = isPdf(bytes) ? "application/pdf" : "application/octet-stream";
        return kept(desk, requestPk, { kind: "signed", name, bytes, mediaType });
      }),
    );
  });
}

interface Fetched {
  kind: ProcessDocument["kind"];
  name: string;
  bytes: Buffer;
  mediaType: string;
}

async function kept(
  desk: SigningDesk,
  requestPk: string,
  { kind, name, bytes, mediaType }: Fetched,
): Promise<ProcessDocument> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const id = derivedDocumentId(provider, requestPk, kind, name, sha256);
  const { journal, documents } = desk.has;
  const process = execution();
  await journal.own(process, [{ id, kind }]);
  const document = await documents.put(bytes, mediaType, { id, process });
  return { kind, document, description: name };
}

const isAnother = {
  kind: "protocol",
  effect: "none",
  problem: "another document than ours was signed",
} as const;

const nothing = () => ({});
