import { defineProcess } from "../definition/process-contract.js";
import { IssueCredentialInput, IssueCredentialResult } from "./contract.js";
import { ProcessStatus } from "../shared/status.js";

export * from "./contract.js";

export const issueCredential = defineProcess({
  title: "Credential",
  provider: "credential-wallet",
  input: IssueCredentialInput,
  result: IssueCredentialResult,
  status: ProcessStatus,
  phases: [["submitting", "ended"]],
  updates: {},
  command: {
    summary: "set up an issuance of a wallet credential, and start its flow",
    details:
      "operator, template and service are each { id } of what exists, or { providerFields } of what is created. The provider reports no later status; the process ends as initiated, without init as setUp.",
    example: "trustflow issue-credential --input credential.json --id order-7 --watch",
    notChecked: "what is created: only the wallet knows its rules",
  },
});
