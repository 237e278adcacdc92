// `sendPostal` as the harnesses take it.
import type { PostalHandle, SendPostalInput } from "../../../src/client.js";
import { DAY_SECONDS } from "../../../src/contracts/definition/process-contract.js";
import { fastSettings, letterInput } from "./inputs.js";
import { callsOf } from "../process-under-test.js";
import type { CallsOf, ProcessUnderTest, Variant } from "../process-under-test.js";

const registered = { certificationLevel: "Advanced" } as const;
const onDemand = { options: { ...registered, affidavitsOnDemandEnabled: true } };

const postalCalls: CallsOf<"evi-post", PostalHandle> = {
  submit: { activity: "submit", outcome: "delivered", variant: {} },
  cancel: {
    activity: "cancel",
    outcome: "cancelled",
    variant: { words: "cancellable" },
    ask: (handle, updateId) => handle.cancel(updateId),
  },
  requestAffidavit: {
    activity: "requestAffidavit",
    outcome: "delivered",
    variant: { input: onDemand },
    ask: (handle, updateId) => handle.requestAffidavit({}, updateId),
  },
  query: { activity: "ask", outcome: "delivered", variant: {} },
  downloadAffidavits: { activity: "ask", outcome: "delivered", variant: {} },
};

/** A way that stays open, with its polls far apart. */
export const openLetter: Variant = {
  words: "open",
  input: { settings: { ...fastSettings, pollIntervalSeconds: 600 } },
};

export const sendPostalUnderTest: ProcessUnderTest<PostalHandle> = {
  process: "sendPostal",
  provider: "evi-post",
  words: "delivered",
  outcome: "delivered",
  effects: { "evi-post.submit": 1 },
  calls: callsOf<"evi-post", PostalHandle>("evi-post", postalCalls, {
    requestAffidavit: "affidavitRequest",
    downloadAffidavits: "affidavitDownload",
  }),
  longWays: [
    { variant: { words: "delivered-after-60-days" }, outcome: "delivered" },
    { variant: { words: "cancellable" }, outcome: "delivered" },
    { variant: { words: "expired" }, outcome: "expired" },
    {
      variant: {
        words: "missing,affidavits-late",
        input: { settings: { affidavitWindowSeconds: 30 * DAY_SECONDS } },
      },
      outcome: "delivered",
    },
    {
      variant: { words: "open", input: { settings: { deadlineSeconds: 60 * DAY_SECONDS } } },
      outcome: "openAtDeadline",
    },
  ],
  start(trustflow, id, { words = sendPostalUnderTest.words, input } = {}) {
    const more: Partial<SendPostalInput> = { options: registered, ...input };
    return trustflow.sendPostal(id, letterInput(id, words, more));
  },
};
