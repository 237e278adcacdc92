// The ways through `presentCredential` whose histories differ (P1 §1.6, 4.6).
import * as wallet from "../../../src/providers/credential-wallet/client.js";
import { freeFields } from "../../harness/histories/path-run.js";
import type { PathsOf, Writing } from "../../harness/histories/path-run.js";
import { walletAccounts, walletPaths } from "../wallet-paths.js";
import { presentationInput } from "./inputs.js";

const operations = [
  "createOperator",
  "createTemplate",
  "createVerificationTemplate",
  "createPresentationService",
  "initPresentation",
];

export const presentCredentialPaths: PathsOf = {
  process: "presentCredential",
  speed: 2,
  accounts: walletAccounts,
  kept: ["operator.providerFields.sandbox"],
  inputs: { presentation: (writing) => presentation(writing) },
  paths: walletPaths({
    process: "presentCredential",
    operations,
    serviceId: "verificationServiceId",
    links: ["verificationTemplateId", "operatorId"],
    input: presentation,
    async existing(account, fields) {
      const { operatorId } = await wallet.createOperator(account, { fields });
      const { templateId } = await wallet.createTemplate(account, { fields });
      const verification = await wallet.createVerificationTemplate(account, { fields, templateId });
      const { verificationTemplateId } = verification;
      const { verificationServiceId } = await wallet.createPresentationService(account, {
        fields,
        operatorIds: [operatorId],
        verificationTemplateIds: [verificationTemplateId],
      });
      return {
        operator: operatorId,
        template: templateId,
        verificationTemplate: verificationTemplateId,
        service: verificationServiceId,
      };
    },
  }),
};

function presentation(writing: Writing, words = "") {
  const input = presentationInput(writing.intent, words);
  const providerFields = { ...input.init?.providerFields, ...freeFields(writing) };
  return { ...input, init: { providerFields } };
}
