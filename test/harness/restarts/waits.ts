// Every kind of wait of every process, with spans so short that each wait ends or starts anew many times between restarts.
import type { Trustflow } from "../../../src/client.js";
import type { AnyHandle } from "../../../src/client/handles.js";
import { envelopeInput } from "../../processes/sign-envelope/inputs.js";
import { assertionInput, holderInput } from "../../processes/issue-certificate/inputs.js";
import { fastSettings, letterInput } from "../../processes/send-postal/inputs.js";
import { signerInput, videoInput } from "../../processes/sign-one-shot/inputs.js";

/** The account whose credentials are wrong until a process of it is to end. */
export const deniedAccount = "denied";

export interface Wait {
  name: string;
  start(trustflow: Trustflow, id: string): Promise<AnyHandle>;
  /** Its outcome, or the name of the error that it fails with. */
  ends: string[];
  /** `held`: persons end it, after some restarts; `hurried`: persons end it at once; `alone`: a deadline ends it. */
  kind: "held" | "hurried" | "alone";
  /** The wait comes after the code, which is entered at once. */
  isAfterCode?: true;
}

const account = deniedAccount;
/** After so many seconds it ends by itself; a restart takes a few of them. */
const DEADLINE_SECONDS = 15;
const postal = {
  ...fastSettings,
  pollIntervalSeconds: 2,
  restingGraceSeconds: 120,
};
const codes = { resendSpacingSeconds: 2, otpTries: 100, otpResends: 100 };
const polled = { ...codes, pollIntervalSeconds: 2, askIntervalSeconds: 1 };
const hourAgo = () => new Date(Date.now() - 3_600_000);

export const waits: Wait[] = [
  {
    name: "letter-polled",
    start: (trustflow, id) =>
      trustflow.sendPostal(id, letterInput(id, "open,callback=lost*", { settings: postal })),
    ends: ["delivered"],
    kind: "held",
  },
  {
    name: "letter-called-back",
    start: (trustflow, id) =>
      trustflow.sendPostal(id, letterInput(id, "open", { settings: postal })),
    ends: ["delivered"],
    kind: "held",
  },
  {
    name: "letter-deadline",
    start: (trustflow, id) =>
      trustflow.sendPostal(
        id,
        letterInput(id, "open", { settings: { ...postal, deadlineSeconds: DEADLINE_SECONDS } }),
      ),
    ends: ["openAtDeadline"],
    kind: "alone",
  },
  {
    name: "letter-affidavits",
    start: (trustflow, id) =>
      trustflow.sendPostal(
        id,
        letterInput(id, "open", {
          settings: { ...postal, affidavitWindowSeconds: DEADLINE_SECONDS },
        }),
      ),
    ends: ["delivered"],
    kind: "hurried",
  },
  {
    name: "letter-denied",
    start: (trustflow, id) =>
      trustflow.sendPostal(id, letterInput(id, "open", { settings: postal, account })),
    ends: ["delivered"],
    kind: "held",
  },

  {
    name: "certificate-code",
    start: (trustflow, id) =>
      trustflow.issueCertificate(id, holderInput(id, "", { settings: codes })),
    ends: ["issued"],
    kind: "held",
  },
  {
    name: "certificate-code-deadline",
    start: (trustflow, id) =>
      trustflow.issueCertificate(
        id,
        holderInput(id, "", { settings: { ...codes, holderDeadlineSeconds: DEADLINE_SECONDS } }),
      ),
    ends: ["expired"],
    kind: "alone",
  },
  {
    name: "certificate-assertion",
    start: (trustflow, id) =>
      trustflow.issueCertificate(id, { ...assertionInput(id, hourAgo()), settings: codes }),
    ends: ["issued"],
    kind: "held",
  },
  {
    name: "certificate-assertion-deadline",
    start: (trustflow, id) =>
      trustflow.issueCertificate(id, {
        ...assertionInput(id, hourAgo()),
        settings: { ...codes, assertionDeadlineSeconds: DEADLINE_SECONDS },
      }),
    ends: ["NotAcceptedError"],
    kind: "alone",
  },
  {
    name: "certificate-denied",
    start: (trustflow, id) =>
      trustflow.issueCertificate(id, holderInput(id, "", { settings: codes, account })),
    ends: ["issued"],
    kind: "held",
  },

  {
    name: "signature-contract",
    start: (trustflow, id) =>
      trustflow.signOneShot(
        id,
        signerInput(id, "", { settings: { ...polled, requireContractAccepted: true } }),
      ),
    ends: ["signed"],
    kind: "held",
  },
  {
    name: "signature-contract-deadline",
    start: (trustflow, id) =>
      trustflow.signOneShot(
        id,
        signerInput(id, "", {
          settings: {
            ...polled,
            requireContractAccepted: true,
            holderDeadlineSeconds: DEADLINE_SECONDS,
          },
        }),
      ),
    ends: ["expired"],
    kind: "alone",
  },
  {
    name: "signature-code",
    start: (trustflow, id) => trustflow.signOneShot(id, signerInput(id, "", { settings: polled })),
    ends: ["signed"],
    kind: "held",
  },
  {
    name: "signature-code-deadline",
    start: (trustflow, id) =>
      trustflow.signOneShot(
        id,
        signerInput(id, "", { settings: { ...polled, holderDeadlineSeconds: DEADLINE_SECONDS } }),
      ),
    ends: ["expired"],
    kind: "alone",
  },
  {
    name: "signature-asynchronous",
    start: (trustflow, id) =>
      trustflow.signOneShot(
        id,
        signerInput(id, "async-stalled", { variant: "asynchronous", settings: polled }),
      ),
    ends: ["signed"],
    kind: "held",
    isAfterCode: true,
  },
  {
    name: "signature-asynchronous-deadline",
    start: (trustflow, id) =>
      trustflow.signOneShot(
        id,
        signerInput(id, "async-stalled", {
          variant: "asynchronous",
          settings: { ...polled, deadlineSeconds: DEADLINE_SECONDS },
        }),
      ),
    ends: ["openAtDeadline"],
    kind: "alone",
    isAfterCode: true,
  },
  {
    name: "signature-video",
    start: (trustflow, id) => trustflow.signOneShot(id, { ...videoInput(id), settings: polled }),
    ends: ["signed"],
    kind: "held",
  },
  {
    name: "signature-video-deadline",
    start: (trustflow, id) =>
      trustflow.signOneShot(id, {
        ...videoInput(id),
        settings: { ...polled, deadlineSeconds: DEADLINE_SECONDS },
      }),
    ends: ["openAtDeadline"],
    kind: "alone",
  },
  {
    name: "signature-denied",
    start: (trustflow, id) =>
      trustflow.signOneShot(id, signerInput(id, "", { settings: polled, account })),
    ends: ["signed"],
    kind: "held",
  },

  {
    name: "message-denied",
    start: (trustflow, id) =>
      trustflow.sendMessage(id, {
        providerFields: { clientReference: id, to: "+390612345678", text: "A message of a test" },
        account,
      }),
    ends: ["accepted"],
    kind: "held",
  },
  {
    name: "envelope-denied",
    start: (trustflow, id) => trustflow.signEnvelope(id, envelopeInput(id, "", { account })),
    ends: ["sent"],
    kind: "held",
  },
];
