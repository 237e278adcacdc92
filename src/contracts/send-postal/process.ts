import { z } from "zod";
import { PostalAffidavitRequest, SendPostalInput, SendPostalResult } from "./contract.js";
import type { PostalSettings } from "./contract.js";
import { answer, decider, unavailable, update } from "../definition/message-contract.js";
import { DAY_SECONDS, defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { affidavitAnswers } from "../shared/communication.js";
import { cancel, requestAffidavit } from "./messages.js";
import { postalStates } from "./states.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";
export * from "./messages.js";
export * from "./states.js";

export const sendPostal = defineProcess({
  title: "Certified post",
  provider: "evi-post",
  input: SendPostalInput,
  result: SendPostalResult,
  status: ProcessStatus,
  phases: [["submitting", "tracking", "affidavits", "ended"]],
  states: postalStates,
  /** All in seconds. */
  defaults: {
    affidavitWindowSeconds: { value: 7 * DAY_SECONDS },
    deadlineSeconds: { value: 120 * DAY_SECONDS, least: 1 },
    pollIntervalSeconds: { value: DAY_SECONDS / 4, least: 1 },
    askIntervalSeconds: { value: 60, least: 1 },
    restingGraceSeconds: { value: 3 * DAY_SECONDS },
  } satisfies DefaultsFor<PostalSettings>,
  updates: {
    cancel: update(cancel, {
      description:
        "Cancel the communication before it is dispatched (P2 §4.1 Cancel). The argument is optional.",
      argument: z.strictObject(decider),
      answer: answer({
        cancelled: "the communication is cancelled, or was never submitted",
        tooLate: "the communication was dispatched",
        notOwner: "another account submitted the communication",
        notPermitted: "the account lacks the permission `CanUseCancel`",
        unknown: "whether the communication is cancelled is not known",
        pending: "the submit is in flight: the cancellation follows it",
        unavailable,
      }),
      decides: true,
    }),
    requestAffidavit: update(requestAffidavit, {
      description: "Request an affidavit on demand (P2 §4.1 AffidavitRequest).",
      argument: PostalAffidavitRequest,
      answer: affidavitAnswers({
        notEligible: "the submission did not set `affidavitsOnDemandEnabled`",
      }),
    }),
  },
  command: {
    summary: "send a certified postal communication",
    details: `Its document may also be { "path": "letter.pdf" }, relative to the input file; the command stores the file in the document store.`,
    example:
      "trustflow send-postal --input letter.json --id order-7 --watch\ntrustflow send-postal --input letter.json --dry-run",
    notChecked:
      "what the account's site and provisioning allow: the process checks it before it submits",
  },
});
