// The waits of a signature, and its signer, its caller and the service behind it.
import type { OneShotHandle, SignOneShotInput } from "../../../src/client.js";
import { codes, DEADLINE_SECONDS, denied, enterCode } from "../waits.js";
import type { Waits } from "../waits.js";
import { signerInput, videoDecision, videoInput } from "./inputs.js";

type Settings = NonNullable<SignOneShotInput["settings"]>;

const polled = { ...codes, pollIntervalSeconds: 2, askIntervalSeconds: 1 };
const signer =
  (more: Settings = {}, account = {}) =>
  (id: string) =>
    signerInput(id, "", { settings: { ...polled, ...more }, ...account });
const stalled =
  (more: Settings = {}) =>
  (id: string) =>
    signerInput(id, "async-stalled", { variant: "asynchronous", settings: { ...polled, ...more } });
const video =
  (more: Settings = {}) =>
  (id: string) => ({ ...videoInput(id), settings: { ...polled, ...more } });
const accepting = { requireContractAccepted: true };
const holderDeadline = { holderDeadlineSeconds: DEADLINE_SECONDS };
const inTime = { deadlineSeconds: DEADLINE_SECONDS };
const contractDeadline = signer({ ...accepting, ...holderDeadline });
const isAfterCode = true;

export const oneShotWaits: Waits = {
  waits: [
    { name: "signature-contract", kind: "held", input: signer(accepting), ends: "signed" },
    {
      name: "signature-contract-deadline",
      kind: "alone",
      input: contractDeadline,
      ends: "expired",
    },
    { name: "signature-code", kind: "held", input: signer(), ends: "signed" },
    {
      name: "signature-code-deadline",
      kind: "alone",
      input: signer(holderDeadline),
      ends: "expired",
    },
    { name: "signature-asynchronous", kind: "held", input: stalled(), ends: "signed", isAfterCode },
    {
      name: "signature-asynchronous-deadline",
      kind: "alone",
      input: stalled(inTime),
      ends: "openAtDeadline",
      isAfterCode,
    },
    { name: "signature-video", kind: "held", input: video(), ends: "signed" },
    {
      name: "signature-video-deadline",
      kind: "alone",
      input: video(inTime),
      ends: "openAtDeadline",
    },
    { name: "signature-denied", kind: "held", input: signer({}, denied), ends: "signed" },
  ],
  async act(scene) {
    const { system, isEnding, waitingFor, item } = scene;
    const handle = scene.handle as OneShotHandle;
    if (waitingFor === "the holder's code") return enterCode(scene);
    if (!isEnding) return;
    if (waitingFor === "the acceptance of the contract") return handle.acceptContract(true);
    if (waitingFor === videoDecision) return handle.decideVideo("approve");
    if (waitingFor === "the signature service to finish")
      return system.sandbox.move(item, { state: "signed" });
  },
};
