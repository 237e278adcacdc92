// `sendPostal` as the harnesses take it.
import type { PostalHandle, SendPostalInput } from "../../../src/client.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { fastSettings, letterInput, letterPdf } from "./inputs.js";
import { DAY_SECONDS } from "../../../src/contracts/definition/process-contract.js";
import { callsOf } from "../process-under-test.js";
import type { CalledBack, CallsOf, Variant } from "../process-under-test.js";

const DAY = 86_400_000;
const registered = { certificationLevel: "Advanced" } as const;
const onDemand = { options: { ...registered, affidavitsOnDemandEnabled: true } };

const postalCalls: CallsOf<"evi-post", PostalHandle> = {
  submit: { activity: "submit", outcome: "delivered", variant: {}, isLookUpAssumed: true },
  cancel: {
    activity: "cancel",
    outcome: "cancelled",
    variant: { words: "cancellable" },
    ask: (handle, updateId) => handle.cancel(updateId),
    answer: "cancelled",
  },
  requestAffidavit: {
    activity: "requestAffidavit",
    outcome: "delivered",
    variant: { input: onDemand },
    ask: (handle, updateId) => handle.requestAffidavit({}, updateId),
    answer: "requested",
  },
  query: { activity: "ask", outcome: "delivered", variant: {} },
  downloadAffidavits: { activity: "ask", outcome: "delivered", variant: {} },
};

export const sendPostalUnderTest: CalledBack<PostalHandle> = {
  process: "sendPostal",
  provider: "evi-post",
  words: "delivered",
  outcome: "delivered",
  effects: { "evi-post.submit": 1 },
  spanMs: 60 * DAY,
  firstChangeMs: 3_600_000,
  staysOpen: { words: "open", input: { settings: { ...fastSettings, pollIntervalSeconds: 600 } } },
  happened: (uniqueId) => ({ uniqueId }),
  callback: (identifier, at) => ({
    Identifier: identifier,
    Kind: "Sent",
    Date: at.toISOString(),
    EvidenceType: "eviPost",
    AdditionalData: { State: "Sent", Details: identifier },
  }),
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

/** One document for all, by reference; after the submit nothing happens for an hour, so that only the submit counts. */
export async function quietVariant({ client }: TestStack): Promise<Variant> {
  const document = await client.documents.put(letterPdf, "application/pdf");
  const settings = { pollIntervalSeconds: 3_600, askIntervalSeconds: 3_600 };
  return { words: "stalled", input: { document, settings } };
}
