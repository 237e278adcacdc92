// The account that the tests of the wallet's client use, and one call of each operation.
import * as client from "../../../src/providers/credential-wallet/client.js";
import type { CredentialWalletAccount } from "../../../src/providers/credential-wallet/client.js";
import { defaultAccount } from "../default-account.js";
import type { Operation } from "../../../src/providers/registry.js";

export function accountAt(
  baseUrl: string,
  changes: Partial<CredentialWalletAccount> = {},
): CredentialWalletAccount {
  return {
    ...defaultAccount("credential-wallet", { baseUrl, apiToken: "api-operator" }),
    ...changes,
  };
}

/** The ids that an operation refers to; where several may stand, a list. */
export interface Links {
  templateId: string;
  operatorIds: readonly string[];
  verificationTemplateIds: readonly string[];
  issuanceServiceId: string;
  verificationServiceId: string;
}

export const links: Links = {
  templateId: "t1",
  operatorIds: ["o1"],
  verificationTemplateIds: ["v1"],
  issuanceServiceId: "i1",
  verificationServiceId: "p1",
};

type Call = (
  account: CredentialWalletAccount,
  fields?: Record<string, unknown>,
  more?: Partial<Links> & { isLater?: boolean },
) => Promise<unknown>;

export const calls: Record<Operation<"credential-wallet">, Call> = {
  createOperator: (account, fields = {}, more) =>
    client.createOperator(account, { fields, ...links, ...more }),
  createTemplate: (account, fields = {}, more) =>
    client.createTemplate(account, { fields, ...links, ...more }),
  createIssuanceService: (account, fields = {}, more) =>
    client.createIssuanceService(account, { fields, ...links, ...more }),
  initIssuance: (account, fields = {}, more) =>
    client.initIssuance(account, { fields, ...links, ...more }),
  createVerificationTemplate: (account, fields = {}, more) =>
    client.createVerificationTemplate(account, { fields, ...links, ...more }),
  createPresentationService: (account, fields = {}, more) =>
    client.createPresentationService(account, { fields, ...links, ...more }),
  initPresentation: (account, fields = {}, more) =>
    client.initPresentation(account, { fields, ...links, ...more }),
};
