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

const callOf =
  (operation: Operation<"credential-wallet">): Call =>
  (account, fields = {}, more = {}) =>
    client[operation](account, { fields, ...links, ...more });

export const calls: Record<Operation<"credential-wallet">, Call> = {
  createOperator: callOf("createOperator"),
  createTemplate: callOf("createTemplate"),
  createIssuanceService: callOf("createIssuanceService"),
  initIssuance: callOf("initIssuance"),
  createVerificationTemplate: callOf("createVerificationTemplate"),
  createPresentationService: callOf("createPresentationService"),
  initPresentation: callOf("initPresentation"),
};
