import { z } from "zod";
import { answer, decider, refused, unavailable, update } from "../definition/message-contract.js";
import { DAY_SECONDS, defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { VerifyIdentityInput, VerifyIdentityResult } from "./contract.js";
import type { VideoSettings } from "./contract.js";
import { rejectCall } from "./messages.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";
export * from "./messages.js";

export const verifyIdentity = defineProcess({
  title: "Identification by video",
  provider: "video-identification",
  input: VerifyIdentityInput,
  result: VerifyIdentityResult,
  status: ProcessStatus,
  phases: [["submitting", "tracking", "ended"]],
  defaults: {
    deadlineSeconds: { value: 30 * DAY_SECONDS, least: 1 },
    pollIntervalSeconds: { value: DAY_SECONDS / 4, least: 1 },
    askIntervalSeconds: { value: 60, least: 1 },
  } satisfies DefaultsFor<VideoSettings>,
  updates: {
    rejectCall: update(rejectCall, {
      description: "Reject the call (P1 §4.2).",
      argument: z.strictObject({
        providerFields: z
          .record(z.string(), z.unknown())
          .exactOptional()
          .describe(
            "The body of the request, which the specification does not show; passed on unchanged.",
          ),
        ...decider,
      }),
      answer: answer({
        rejected: "the provider took the rejection",
        notAwaited: "the call has ended already",
        refused,
        unknown: "the rejection may have arrived, which cannot be checked",
        unavailable,
      }),
      decides: true,
    }),
  },
  command: {
    summary: "follow an identification by video call, and keep its audit",
    details:
      "The conference exists already; nothing in the API creates one. The outcome is verified or notVerified only where the account's pointers.verdict is configured, else closed.",
    example: "trustflow verify-identity --input identity.json --id order-7 --watch",
    notChecked: "whether the conference exists: only the service knows",
  },
});
