// The magic words of the envelope-based service, in the member `sandbox` of the certificate request.
import { fieldsOf } from "../checker.js";
import { magicKey, readMagicMember, type Magic } from "../magic.js";
import type { Arrival, Description } from "../operation.js";
import type { CertificateRequest } from "./certificate-request.js";

const PROVIDER = "envelope-signature";
const words = ["no-envelope-id"] as const;
export type Word = (typeof words)[number];

const vocabulary = { provider: PROVIDER, operations: ["esawoneshot", "upload", "send"], words };

export const readRequestMagic = (body: unknown): Magic<Word> | undefined =>
  readMagicMember(fieldsOf(body), vocabulary);

/** The intent of a certificate request is its `reference`; the same request again is the second call of its faults. */
export function describeCreation({ body }: Arrival): Description & { magicKey: string } {
  const { reference } = fieldsOf(body);
  const intent = typeof reference === "string" ? reference : null;
  return {
    ...describeIntent(intent),
    magicKey: magicKey(PROVIDER, intent ?? body),
    magicFaults: readRequestMagic(body)?.faults,
  };
}

export function describeIntent(intent: string | null, request?: CertificateRequest): Description {
  return { intent, lookupKeys: intent === null ? [] : [intent], magicKey: request?.magicKey };
}
