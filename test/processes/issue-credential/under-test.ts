// `issueCredential` as the harnesses take it: everything is created, and the flow is started.
import type { HandleOf } from "../../../src/client.js";
import { issuanceInput } from "./inputs.js";
import { callsOf } from "../process-under-test.js";
import type { ProcessUnderTest } from "../process-under-test.js";

const provider = "credential-wallet";
const effects = [
  "createOperator",
  "createTemplate",
  "createIssuanceService",
  "initIssuance",
] as const;
const end = { outcome: "initiated", variant: {} };

type Handle = HandleOf<"issueCredential">;
type OfPresentation =
  | "createVerificationTemplate"
  | "createPresentationService"
  | "initPresentation";

export const issueCredentialUnderTest: ProcessUnderTest<Handle> = {
  process: "issueCredential",
  provider,
  words: "",
  outcome: "initiated",
  effects: Object.fromEntries(effects.map((name) => [`${provider}.${name}`, 1])),
  calls: callsOf<typeof provider, Handle, OfPresentation>(provider, {
    createOperator: { activity: "createOperator", ...end },
    createTemplate: { activity: "createTemplate", ...end },
    createIssuanceService: { activity: "createIssuanceService", ...end },
    initIssuance: { activity: "initIssuance", ...end },
  }),
  start(trustflow, id, { words = "", input } = {}) {
    return trustflow.issueCredential(id, issuanceInput(id, words, input));
  },
};
