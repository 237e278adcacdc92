// How each process waits, as the storm of restarts takes it, and what the persons around it do meanwhile. The spans are so short that
// each wait ends or starts anew many times between two restarts.
import type { CertificateHandle, OneShotHandle } from "../../src/client.js";
import type { AnyHandle } from "../../src/client/processes.js";
import type { TestStack } from "../harness/stack/stack.js";
import { wrongCode } from "./issue-certificate/inputs.js";

export interface Wait {
  name: string;
  /** `held`: persons end it, after some restarts; `hurried`: persons end it at once; `alone`: a deadline ends it. */
  kind: "held" | "hurried" | "alone";
  input(id: string): object;
  /** Its outcome, or the name of the error that it fails with. */
  ends: string;
  /** The wait comes after the code, which is entered at once. */
  isAfterCode?: true;
}

export interface WaitScene {
  system: TestStack;
  wait: Wait;
  handle: AnyHandle;
  /** Persons bring it to its end; before that they do what comes to their minds. */
  isEnding: boolean;
  /** Called when the holder cannot know whether the provider took the code: then a further try is no double. */
  onDoubt: () => void;
  /** As the status shows it. */
  waitingFor: string | undefined;
  /** The provider's id of it. */
  item: string;
}

export interface Waits {
  waits: Wait[];
  /** One thing that holder, signer, caller or the provider's own people do. */
  act?(scene: WaitScene): Promise<unknown>;
}

/** The account whose credentials are wrong until a process of it is to end. */
export const deniedAccount = "denied";
export const denied = { account: deniedAccount };
/** After so many seconds a wait ends by itself; a restart takes a few of them. */
export const DEADLINE_SECONDS = 15;
export const codes = { resendSpacingSeconds: 2, otpTries: 100, otpResends: 100 };

/** The right code, else a wrong one or a wish for another. */
export async function enterCode(scene: WaitScene): Promise<void> {
  const { system, wait, handle, isEnding, onDoubt } = scene;
  const isRight = isEnding || wait.isAfterCode === true;
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
