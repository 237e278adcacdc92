import { z } from "zod";
import {
  PostalAffidavitRequest,
  SendPostalInput,
  SendPostalResult,
  SendPostalStatus,
} from "./contract.js";
import type { PostalSettings } from "./contract.js";
import { answer, decider, update } from "../definition/message-contract.js";
import { DAY_SECONDS, defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { cancel, requestAffidavit } from "./messages.js";

export * from "./contract.js";
export * from "./messages.js";
export * from "./states.js";

export const sendPostal = defineProcess({
  title: "Certified post",
  provider: "evi-post",
  input: SendPostalInput,
  result: SendPostalResult,
  status: SendPostalStatus,
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
      answer: answer(
        "cancelled",
        "tooLate",
        "notOwner",
        "notPermitted",
        "unknown",
        "pending",
        "unavailable",
      ),
      decides: true,
    }),
    requestAffidavit: update(requestAffidavit, {
      description: "Request an affidavit on demand (P2 §4.1 AffidavitRequest).",
      argument: PostalAffidavitRequest,
      answer: z.union([
        z.strictObject({ answer: z.literal("requested"), requestId: z.string() }),
        z.strictObject({ answer: z.literal("refused"), reason: z.string() }),
        answer("notEligible", "unknown", "unavailable"),
      ]),
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
