// The magic words of the wallet, in the member `sandbox` of a request.
import { fieldsOf } from "../../exchange/checker.js";
import { readMagicMember, type Magic } from "../../exchange/magic.js";

export const PROVIDER = "credential-wallet";

const words = ["with-token", "empty-init"] as const;
export type Word = (typeof words)[number];

export const operationNames = [
  "createOperator",
  "createTemplate",
  "createIssuanceService",
  "initIssuance",
  "createVerificationTemplate",
  "createPresentationService",
  "initPresentation",
] as const;
export type OperationName = (typeof operationNames)[number];

const vocabulary = { provider: PROVIDER, operations: operationNames, words };

export const readRequestMagic = (body: unknown): Magic<Word> | undefined =>
  readMagicMember(fieldsOf(body), vocabulary);
