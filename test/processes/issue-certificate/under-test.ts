// `issueCertificate` as the harnesses take it: its holder reads the codes in the sandbox's outbox.
import { UnreachableError } from "../../../src/client.js";
import type { CertificateHandle } from "../../../src/client.js";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { assertionInput, codeFor, holderInput } from "./inputs.js";
import { callsOf } from "../process-under-test.js";
import type { CallsOf, ProcessUnderTest, Scene } from "../process-under-test.js";

const provider = "disposable-certificate";

/** A try that was left without an answer is a person's matter when this is over. */
const HOLDER_DEADLINE_SECONDS = 60;
const assertion = { form: "assertion" } as const;
const effects = (enroll: string) => ({
  [`${provider}.${enroll}`]: 1,
  [`${provider}.sendOtp`]: 1,
  [`${provider}.validate`]: 1,
});
const issued = { outcome: "issued", variant: {} };
const ofAssertion = {
  outcome: "issued",
  variant: assertion,
  effects: effects("enrollDisposableWitheIDAssertion"),
};

const calls: CallsOf<typeof provider, CertificateHandle> = {
  checkData: { activity: "checkData", ...issued },
  checkDataWitheIDAssertion: { activity: "checkData", ...ofAssertion },
  enroll: { activity: "enroll", ...issued },
  enrollDisposableWitheIDAssertion: { activity: "enroll", ...ofAssertion },
  sendOtp: { activity: "sendOtp", ...issued },
  validate: {
    activity: "validate",
    outcome: "issued",
    variant: {
      input: {
        settings: { holderDeadlineSeconds: HOLDER_DEADLINE_SECONDS, resendSpacingSeconds: 0 },
      },
    },
    ask: async (handle, updateId, scene) =>
      handle.submitOtp(await codeFor(sandboxControl(scene.sandboxUrl), scene.intent), updateId),
  },
};

export const issueCertificateUnderTest: ProcessUnderTest<CertificateHandle> = {
  process: "issueCertificate",
  provider,
  words: "",
  outcome: "issued",
  effects: effects("enroll"),
  calls: callsOf(provider, calls),
  start(trustflow, id, { words = "", form, input } = {}) {
    const base =
      form === assertion.form ? assertionInput(id, new Date(), words) : holderInput(id, words);
    return trustflow.issueCertificate(id, { ...base, ...input });
  },
  triedAgain: [`${provider}.validate`],
  longWays: [issued, ofAssertion],
  play,
};

/** The holder: enters the newest code, and asks for one where none has come, or it came too long ago. */
async function play(
  handle: CertificateHandle,
  { sandboxUrl, intent }: Scene,
): Promise<{ answer: string } | void> {
  const { waitingFor } = await handle.status();
  if (waitingFor !== "the holder's code") return;
  const code = (await sandboxControl(sandboxUrl).messages(intent)).at(-1)?.otp;
  if (code === undefined) return handle.resendOtp();
  const entered = await handle.submitOtp(code).catch((error: unknown) => {
    if (error instanceof UnreachableError) return { answer: "unknown" };
    throw error;
  });
  if (entered.answer === "expired") await handle.resendOtp();
  return entered;
}
