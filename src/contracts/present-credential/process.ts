import { defineProcess } from "../definition/process-contract.js";
import { PresentCredentialInput, PresentCredentialResult } from "./contract.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";

export const presentCredential = defineProcess({
  title: "Presentation of a credential",
  provider: "credential-wallet",
  input: PresentCredentialInput,
  result: PresentCredentialResult,
  status: ProcessStatus,
  phases: [["submitting", "ended"]],
  updates: {},
  command: {
    summary: "set up a presentation of a wallet credential, and start its flow",
    details:
      "operator, template, verificationTemplate and service are each { id } of what exists, or { providerFields } of what is created. The provider reports no later status; the process ends as initiated, without init as setUp.",
    example: "trustflow present-credential --input presentation.json --id order-7 --watch",
    notChecked: "what is created: only the wallet knows its rules",
  },
});
