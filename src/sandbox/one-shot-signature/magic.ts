// The magic words of the one-shot service, in the member `sandbox` of the payload of create.
import type { Arrival, Description } from "../operation.js";
import { fieldsOf } from "../checker.js";
import { callbackFaultKinds } from "../faults.js";
import { magicKey, readMagicMember, type Magic } from "../magic.js";
import type { SignatureRequest } from "./signature-request.js";

const PROVIDER = "one-shot-signature";

const ways = [
  "async",
  "async-failed",
  "async-stalled",
  "video-approved",
  "webhook-lost",
  "webhook-doubled",
  "webhook-delayed",
  "webhook-reordered",
] as const;
export type Word = (typeof ways)[number];

export const operationNames = [
  "create",
  "contract",
  "otp",
  "sign",
  "uploadDocument",
  "uploadHash",
  "retrieve",
  "deleteDocuments",
  "createIdentityVideo",
  "uploadEvidences",
  "uploadVideo",
  "approveIdentityVideo",
  "cancelIdentityVideo",
  "getIdentityVideo",
  "updateIdentityVideo",
] as const;

const vocabulary = { provider: PROVIDER, operations: [...operationNames, "callback"], words: ways };

export function readRequestMagic(body: unknown): Magic<Word> | undefined {
  const magic = readMagicMember(fieldsOf(body), vocabulary);
  for (const kind of callbackFaultKinds) {
    if (magic?.words.includes(`webhook-${kind}`))
      magic.faults.push({ operation: `${PROVIDER}.callback`, kind, times: "always" });
  }
  return magic;
}

/** The intent of a payload is its `reference`; a repeated create is the second call of its faults. */
export function describeCreation({ body }: Arrival): Description & { magicKey: string } {
  const { reference } = fieldsOf(body);
  const intent = typeof reference === "string" ? reference : null;
  return {
    intent,
    lookupKeys: intent === null ? [] : [intent],
    magicKey: magicKey(PROVIDER, intent ?? body),
    magicFaults: readRequestMagic(body)?.faults,
  };
}

export function describeRequest(request: SignatureRequest | undefined): Description {
  if (!request) return { intent: null, lookupKeys: [] };
  const { intent, magicKey: key } = request;
  return { intent, lookupKeys: intent === null ? [] : [intent], magicKey: key };
}
