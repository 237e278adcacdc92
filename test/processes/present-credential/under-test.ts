// `presentCredential` as the harnesses take it: everything is created, and the flow is started.
import type { HandleOf } from "../../../src/client.js";
import { presentationInput } from "./inputs.js";
import { callsOf } from "../process-under-test.js";
import type { ProcessUnderTest } from "../process-under-test.js";

const provider = "credential-wallet";
const effects = [
  "createOperator",
  "createTemplate",
  "createVerificationTemplate",
  "createPresentationService",
  "initPresentation",
] as const;
const end = { outcome: "initiated", variant: {} };

type Handle = HandleOf<"presentCredential">;
type OfIssuance = "createIssuanceService" | "initIssuance";

export const presentCredentialUnderTest: ProcessUnderTest<Handle> = {
  process: "presentCredential",
  provider,
  words: "",
  outcome: "initiated",
  effects: Object.fromEntries(effects.map((name) => [`${provider}.${name}`, 1])),
  calls: callsOf<typeof provider, Handle, OfIssuance>(provider, {
    createOperator: { activity: "createOperator", ...end },
    createTemplate: { activity: "createTemplate", ...end },
    createVerificationTemplate: { activity: "createVerificationTemplate", ...end },
    createPresentationService: { activity: "createPresentationService", ...end },
    initPresentation: { activity: "initPresentation", ...end },
  }),
  start(trustflow, id, { words = "", input } = {}) {
    return trustflow.presentCredential(id, presentationInput(id, words, input));
  },
};
