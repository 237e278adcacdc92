// The registry of what the processes bring to the generators: one entry for each. complete.test.ts names what a process lacks.
import type { PathsOf } from "../harness/histories/path-run.js";
import type { ProcessName } from "../../src/contracts/shared/names.js";
import { holderInput } from "./issue-certificate/inputs.js";
import { certificateWaits } from "./issue-certificate/waits.js";
import { issueCertificateUnderTest } from "./issue-certificate/under-test.js";
import type { ProcessUnderTest } from "./process-under-test.js";
import { messageInput } from "./send-message/inputs.js";
import { sendMessageUnderTest } from "./send-message/under-test.js";
import { envelopeInput } from "./sign-envelope/inputs.js";
import { signEnvelopeUnderTest } from "./sign-envelope/under-test.js";
import { signerInput } from "./sign-one-shot/inputs.js";
import { oneShotWaits } from "./sign-one-shot/waits.js";
import { signOneShotUnderTest } from "./sign-one-shot/under-test.js";
import { letterInput } from "./send-postal/inputs.js";
import { postalWaits } from "./send-postal/waits.js";
import { sendPostalUnderTest } from "./send-postal/under-test.js";
import { denied } from "./waits.js";
import type { Waits } from "./waits.js";

interface Brought {
  /** How the harnesses of crashes, storms, time and speed take the process. */
  underTest: unknown;
  /** The paths through the process. They use Jest, so they are loaded where tests run, and nowhere else. */
  paths(): Promise<PathsOf>;
  /** How it waits, and what the persons around it do. */
  waits: Waits;
  /** The input in `examples/` that the README shows. */
  example: string;
  /** A good input, which its contract accepts. */
  input(intent: string): object;
}

export const brought: Record<ProcessName, Brought> = {
  sendPostal: {
    underTest: sendPostalUnderTest,
    waits: postalWaits,
    paths: async () => (await import("./send-postal/paths.js")).sendPostalPaths,
    example: "letter.json",
    input: (intent) => letterInput(intent, "delivered"),
  },
  issueCertificate: {
    underTest: issueCertificateUnderTest,
    waits: certificateWaits,
    paths: async () => (await import("./issue-certificate/paths.js")).issueCertificatePaths,
    example: "holder.json",
    input: (intent) => holderInput(intent),
  },
  sendMessage: {
    underTest: sendMessageUnderTest,
    waits: {
      waits: [
        {
          name: "message-denied",
          kind: "held",
          input: (id) => messageInput(id, "", denied),
          ends: "accepted",
        },
      ],
    },
    paths: async () => (await import("./send-message/paths.js")).sendMessagePaths,
    example: "message.json",
    input: (intent) => messageInput(intent),
  },
  signOneShot: {
    underTest: signOneShotUnderTest,
    waits: oneShotWaits,
    paths: async () => (await import("./sign-one-shot/paths.js")).signOneShotPaths,
    example: "agreement.json",
    input: (intent) => signerInput(intent),
  },
  signEnvelope: {
    underTest: signEnvelopeUnderTest,
    waits: {
      waits: [
        {
          name: "envelope-denied",
          kind: "held",
          input: (id) => envelopeInput(id, "", denied),
          ends: "sent",
        },
      ],
    },
    paths: async () => (await import("./sign-envelope/paths.js")).signEnvelopePaths,
    example: "envelope.json",
    input: (intent) => envelopeInput(intent),
  },
};

export const processesUnderTest = Object.values(brought).map(
  ({ underTest }) => underTest as ProcessUnderTest,
);
