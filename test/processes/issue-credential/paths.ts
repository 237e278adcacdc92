// The ways through `issueCredential` whose histories differ (P1 §1.6, 4.6).
import * as wallet from "../../../src/providers/credential-wallet/client.js";
import { freeFields } from "../../harness/histories/path-run.js";
import type { PathsOf, Writing } from "../../harness/histories/path-run.js";
import { walletAccounts, walletPaths } from "../wallet-paths.js";
import { issuanceInput } from "./inputs.js";

const operations = ["createOperator", "createTemplate", "createIssuanceService", "initIssuance"];

export const issueCredentialPaths: PathsOf = {
  process: "issueCredential",
  speed: 2,
  accounts: walletAccounts,
  kept: ["operator.providerFields.sandbox"],
  inputs: { issuance: (writing) => issuance(writing) },
  paths: walletPaths({
    process: "issueCredential",
    operations,
    serviceId: "issuanceServiceId",
    links: ["templateId"],
    input: issuance,
    async existing(account, fields) {
      const { operatorId } = await wallet.createOperator(account, { fields });
      const { templateId } = await wallet.createTemplate(account, { fields });
      const request = { fields, templateId };
      const { issuanceServiceId } = await wallet.createIssuanceService(account, request);
      return { operator: operatorId, template: templateId, service: issuanceServiceId };
    },
  }),
};

function issuance(writing: Writing, words = "") {
  const input = issuanceInput(writing.intent, words);
  const providerFields = { ...input.init?.providerFields, ...freeFields(writing) };
  return { ...input, init: { providerFields } };
}
