// The persons around a process that restarts interrupt: holder, signer, caller, operator, and the provider's own people. They act
// at random while the process is to stay open, and bring it to its end when it is to end.
import type { CertificateHandle, OneShotHandle } from "../../../src/client.js";
import { FinishedError, InvalidInputError, UnreachableError } from "../../../src/client/errors.js";
import type { AnyHandle } from "../../../src/client/handles.js";
import type { Attention } from "../../../src/contracts/shared/status.js";
import { assertionOf, wrongCode } from "../../processes/issue-certificate/inputs.js";
import { deniedAccount } from "./waits.js";
import type { Wait } from "./waits.js";
import { videoDecision } from "../../processes/sign-one-shot/inputs.js";
import type { TestStack } from "../stack/stack.js";

export const rightPassword = { password: "right", apiKey: "right", token: "denied-right" };
const wrongPassword = { password: "wrong", token: "wrong" };

/** The processes of this account wait in attention from now on. */
export async function denyAccess({ sandbox }: TestStack): Promise<void> {
  await sandbox.putAccount(deniedAccount, wrongPassword);
}

interface Scene {
  system: TestStack;
  wait: Wait;
  handle: AnyHandle;
  isEnding: boolean;
  /** Called when the holder cannot know whether the provider took the code: then a further try is no double. */
  onDoubt: () => void;
}

/**
 * No worker is there, it went away with the question, or too many questions wait for it. Or the connection was closed with
 * the question under way: the Temporal server closes each connection after five minutes.
 */
export function isUnanswered(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? error) as { code?: number };
  return error instanceof UnreachableError || [1, 4, 8, 9, 14].includes(code ?? 0);
}

/** One thing that a person does; nothing where no worker answers, or the process has gone on meanwhile. */
export async function act(scene: Scene): Promise<void> {
  try {
    await tryToAct(scene);
  } catch (error) {
    if (!(error instanceof FinishedError || isUnanswered(error))) throw error;
  }
}

async function tryToAct(scene: Scene): Promise<void> {
  const { system, wait, handle, isEnding } = scene;
  const { sandbox } = system;
  const { waitingFor, references, attention } = await handle.status();
  if (attention) return decide(scene, attention);
  const item = references["uniqueId"] ?? references["requestPk"] ?? "";
  switch (waitingFor) {
    case "news from EviPost":
      await sandbox.move(
        item,
        isEnding
          ? { state: "Closed", outcome: "Delivered" }
          : { state: oneOf(wait.kind === "alone" ? openStates : claimedStates) },
      );
      return;
    case "late affidavits":
      await sandbox.publishAffidavit(item);
      return;
    case "the holder's code":
      return enterCode(scene, isEnding || wait.isAfterCode === true);
    case "a new eID assertion": {
      const issuedAt = isEnding ? Date.now() : Date.now() - 3_600_000;
      const isOffered = isEnding || wait.kind === "held";
      if (isOffered)
        await (handle as CertificateHandle).provideAssertion(
          assertionOf(handle.id, new Date(issuedAt)),
        );
      return;
    }
    case "the acceptance of the contract":
      if (isEnding) await (handle as OneShotHandle).acceptContract(true);
      return;
    case videoDecision:
      if (isEnding) await (handle as OneShotHandle).decideVideo("approve");
      return;
    case "the signature service to finish":
      if (isEnding) await sandbox.move(item, { state: "signed" });
      return;
    default:
  }
}

const openStates = ["Processed", "Dispatched", "Issued", "Sent"];
/** `Cancelled` claims an end that does not come; a letter that stands there at its deadline would end. */
const claimedStates = [...openStates, "Cancelled"];

async function enterCode({ system, handle, onDoubt }: Scene, isRight: boolean): Promise<void> {
  const holder = handle as CertificateHandle | OneShotHandle;
  const code = (await system.sandbox.messages(handle.id)).at(-1)?.otp;
  if (code === undefined || (!isRight && Math.random() < 0.6)) {
    await holder.resendOtp();
    return;
  }
  const { answer } = await holder
    .submitOtp(isRight ? code : wrongCode(code))
    .catch((error: unknown) => {
      onDoubt();
      throw error;
    });
  if (answer === "unknown") onDoubt();
  // Five wrong tries have used the code up.
  if (isRight && answer !== "accepted") await holder.resendOtp();
}

async function decide(scene: Scene, attention: Attention): Promise<void> {
  const { system, handle, isEnding } = scene;
  if (attention.kind === "accessDenied") {
    if (isEnding) await system.sandbox.putAccount(deniedAccount, rightPassword);
    if (!isEnding && Math.random() < 0.5) return;
  }
  const decision = await decisionOn(scene, attention);
  const about = {
    attention: attention.id,
    by: "operator",
    note: "looked at the provider's portal",
  };
  try {
    await handle.resolve({ ...about, ...decision });
  } catch (error) {
    // The attention has ended meanwhile.
    if (!(error instanceof InvalidInputError)) throw error;
  }
}

/** The effects of a step that a killed worker may leave without an answer, as the sandbox's ledger names them. */
const effectsOf: Record<string, RegExp> = {
  submit: /\.submit$/,
  enroll: /\.enroll/,
  validate: /\.validate$/,
  create: /\.(create|esawoneshot)$/,
  createVideo: /\.createIdentityVideo$/,
  uploadEvidences: /\.uploadEvidences$/,
  uploadVideo: /\.uploadVideo$/,
  sign: /\.sign$/,
  send: /\.send$/,
};

/** As the ledger has it, in the place of the provider's portal. */
async function decisionOn({ system, handle }: Scene, { kind, step, happenedNeeds }: Attention) {
  const retry = { decision: "retry", confirmRetry: true } as const;
  if (kind === "accessDenied") return { decision: "retry" } as const;
  const names = Object.keys(await system.effects(handle.id));
  if (!names.some((name) => effectsOf[step]?.test(name))) return retry;
  const { id } = (await system.sandbox.items({ intent: handle.id })).items[0] ?? {};
  const known: Record<string, unknown> = { uniqueId: id, requestPk: id };
  const result = Object.fromEntries((happenedNeeds ?? []).map((name) => [name, known[name]]));
  // The portal does not show the provider's secrets.
  if (Object.values(result).includes(undefined)) return { decision: "abandon" } as const;
  return { decision: "happened", result } as const;
}

function oneOf<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)] as T;
}
