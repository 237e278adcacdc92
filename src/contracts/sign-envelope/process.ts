import { defineProcess } from "../definition/process-contract.js";
import type { DefaultsFor } from "../definition/process-contract.js";
import { SignEnvelopeInput, SignEnvelopeResult } from "./contract.js";
import type { EnvelopeSettings } from "./contract.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";

export const signEnvelope = defineProcess({
  title: "Signature envelope",
  provider: "envelope-signature",
  input: SignEnvelopeInput,
  result: SignEnvelopeResult,
  status: ProcessStatus,
  phases: [["submitting", "ended"]],
  defaults: {
    /** How many documents of an envelope are uploaded at the same time. */
    uploadsAtOnce: { value: 5, least: 1 },
  } satisfies DefaultsFor<EnvelopeSettings>,
  updates: {},
  secretIds: ["esawToken"],
  command: {
    summary: "send documents in an envelope that a one-shot certificate signs",
    details: `Each document may also be { "name": "…", "document": { "path": "…" } }. The provider reports no later status; the process ends as sent.`,
    example: "trustflow sign-envelope --input envelope.json --id order-7 --watch",
    notChecked: "the request and the envelope: only the two hosts know their rules",
  },
});
