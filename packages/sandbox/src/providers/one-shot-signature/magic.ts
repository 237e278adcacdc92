// The magic words of the one-shot service, in the member `sandbox` of the payload of create.
import { fieldsOf } from "../../exchange/checker.js";
import { describePayload } from "../../exchange/description.js";
import { callbackFaultKinds } from "../../engine/faults.js";
import { readMagicMember, type Magic } from "../../exchange/magic.js";
import type { Arrival } from "../../exchange/operation.js";

const PROVIDER = "one-shot-signature";

const words = [
  "async",
  "async-failed",
  "async-stalled",
  "video-approved",
  "same-bytes",
  "webhook-lost",
  "webhook-doubled",
  "webhook-delayed",
  "webhook-reordered",
] as const;
export type Word = (typeof words)[number];

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

const vocabulary = {
  provider: PROVIDER,
  operations: [...operationNames, "callback"],
  words: words,
};

export function readRequestMagic(body: unknown): Magic<Word> | undefined {
  const magic = readMagicMember(fieldsOf(body), vocabulary);
  for (const kind of callbackFaultKinds) {
    if (magic?.words.includes(`webhook-${kind}`))
      magic.faults.push({ operation: `${PROVIDER}.callback`, kind, times: "always" });
  }
  return magic;
}

/** The intent of a payload is its `reference`. */
export const describeCreation = (arrival: Arrival) =>
  describePayload(arrival, {
    provider: PROVIDER,
    member: "reference",
    magic: readRequestMagic(arrival.body),
  });
