// `verifyIdentity` as the harnesses take it: the call closes by itself, unless its caller rejects it.
import type { HandleOf } from "../../../src/client.js";
import { DAY_SECONDS } from "../../../src/contracts/definition/process-contract.js";
import { callsOf } from "../process-under-test.js";
import type { ProcessUnderTest } from "../process-under-test.js";
import { alertFor, identityInput } from "./inputs.js";

const provider = "video-identification";

type Handle = HandleOf<"verifyIdentity">;

const plain = { outcome: "verified", variant: {} };
const named = (name: string, count = 1) => ({ [`${provider}.${name}`]: count });

export const verifyIdentityUnderTest: ProcessUnderTest<Handle> = {
  process: "verifyIdentity",
  provider,
  words: "",
  outcome: "verified",
  effects: {},
  calls: callsOf<typeof provider, Handle>(provider, {
    genAPIToken: { activity: "ask", ...plain },
    conferenceData: { activity: "ask", ...plain },
    getAsyncRequestInfo: {
      activity: "ask",
      outcome: "verified",
      variant: { words: "async", input: { asyncRequest: {} } },
    },
    getAuditData: { activity: "keepAudit", ...plain },
    deleteAuditData: {
      activity: "deleteAudit",
      outcome: "verified",
      variant: { input: { deleteAudit: true } },
      effects: named("deleteAuditData"),
    },
    registerAlertEmail: {
      activity: "registerAlert",
      outcome: "verified",
      variant: { form: "alert" },
      effects: named("registerAlertEmail", 2),
    },
    rejectCall: {
      activity: "rejectCall",
      outcome: "rejected",
      variant: { words: "open" },
      effects: named("rejectCall"),
      ask: (handle, updateId) => handle.rejectCall(undefined, updateId),
    },
  }),
  longWays: [
    {
      variant: { words: "open", input: { settings: { deadlineSeconds: 60 * DAY_SECONDS } } },
      outcome: "openAtDeadline",
    },
  ],
  start(trustflow, id, { words = "", form, input } = {}) {
    const alert = form === "alert" ? { alert: alertFor(id) } : {};
    return trustflow.verifyIdentity(id, identityInput(id, words, { ...alert, ...input }));
  },
};
