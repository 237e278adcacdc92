// `signEnvelope` as the harnesses take it: two documents, uploaded side by side.
import type { EnvelopeHandle } from "../../../src/client.js";
import { envelopeInput } from "./inputs.js";
import { callsOf } from "../process-under-test.js";
import type { ProcessUnderTest } from "../process-under-test.js";

const provider = "envelope-signature";
const names = ["agreement", "annex"];

export const signEnvelopeUnderTest: ProcessUnderTest<EnvelopeHandle> = {
  process: "signEnvelope",
  provider,
  words: "",
  outcome: "sent",
  effects: {
    [`${provider}.esawoneshot`]: 1,
    [`${provider}.upload`]: names.length,
    [`${provider}.send`]: 1,
  },
  calls: callsOf<typeof provider, EnvelopeHandle>(
    provider,
    {
      esawoneshot: { activity: "create", outcome: "sent", variant: {} },
      uploadFile: {
        activity: "upload",
        step: names.map((_, index) => `upload-${index}`),
        outcome: "sent",
        variant: {},
      },
      sendEnvelope: { activity: "send", outcome: "sent", variant: {} },
    },
    { uploadFile: "upload", sendEnvelope: "send" },
  ),
  start(trustflow, id, { words = "", input } = {}) {
    return trustflow.signEnvelope(id, { ...envelopeInput(id, words, { names }), ...input });
  },
};
