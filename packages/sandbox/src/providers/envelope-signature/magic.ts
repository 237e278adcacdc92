// The magic words of the envelope-based service, in the member `sandbox` of the certificate request.
import { fieldsOf } from "../../exchange/checker.js";
import { describePayload } from "../../exchange/description.js";
import { readMagicMember, type Magic } from "../../exchange/magic.js";
import type { Arrival } from "../../exchange/operation.js";

const PROVIDER = "envelope-signature";
const words = ["no-envelope-id"] as const;
export type Word = (typeof words)[number];

const vocabulary = { provider: PROVIDER, operations: ["esawoneshot", "upload", "send"], words };

export const readRequestMagic = (body: unknown): Magic<Word> | undefined =>
  readMagicMember(fieldsOf(body), vocabulary);

/** The intent of a certificate request is its `reference`. */
export const describeCreation = (arrival: Arrival) =>
  describePayload(arrival, {
    provider: PROVIDER,
    member: "reference",
    magic: readRequestMagic(arrival.body),
  });
