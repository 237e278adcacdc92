// The account that the tests of the envelope client use.
import { Secret } from "../../../src/contracts/values.js";
import type { EnvelopeSignatureAccount } from "../../../src/providers/envelope-signature/client.js";

export function accountAt(
  caUrl: string,
  esignUrl: string = caUrl,
  timeoutMs = 5000,
): EnvelopeSignatureAccount {
  return {
    name: "default",
    ca: { baseUrl: caUrl, timeoutMs },
    esign: { baseUrl: esignUrl, timeoutMs },
    apiToken: new Secret("api-token"),
    vendor: "Acme",
  };
}

export const pdf = { name: "a.pdf", bytes: Buffer.from("%PDF-1.4"), mediaType: "application/pdf" };
