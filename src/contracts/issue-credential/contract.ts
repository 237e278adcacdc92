// `issueCredential` creates what an issuance needs, where it does not exist yet, and starts a flow (P1 §1.6, 2.11, 4.6).
import { z } from "zod";
import { withRules } from "../shared/rules.js";
import {
  startsWhereServiceExists,
  walletFields,
  walletResult,
  whereCreated,
  whereExisting,
} from "../shared/wallet.js";

const CredentialFields = z.strictObject(walletFields);

export const IssueCredentialInput = withRules(CredentialFields, [
  startsWhereServiceExists,
  whereExisting("service", "operator", "template"),
  // That a service belongs to an operator is not shown.
  whereCreated("service", "template"),
]);
export type IssueCredentialInput = z.infer<typeof IssueCredentialInput>;

export const IssueCredentialResult = walletResult("issueCredential");
export type IssueCredentialResult = z.infer<typeof IssueCredentialResult>;
