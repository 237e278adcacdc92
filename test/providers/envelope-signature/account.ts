// The account that the tests of the envelope client use, and one call of each step.
import { Secret } from "../../../src/contracts/shared/values.js";
import { assumed } from "../../../src/providers/envelope-signature/wire.js";
import * as client from "../../../src/providers/envelope-signature/client.js";
import type { EnvelopeSignatureAccount } from "../../../src/providers/envelope-signature/client.js";
import type { Operation } from "../../../src/providers/registry.js";

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
    filePart: assumed.filePart,
    members: assumed.members,
  };
}

export const pdf = { name: "a.pdf", bytes: Buffer.from("%PDF-1.4"), mediaType: "application/pdf" };

export const calls: Record<
  Operation<"envelope-signature">,
  (account: EnvelopeSignatureAccount) => Promise<unknown>
> = {
  esawoneshot: (account) => client.esawoneshot(account, {}),
  uploadFile: (account) => client.uploadFile(account, pdf),
  sendEnvelope: (account) =>
    client.sendEnvelope(account, {
      documents: [{ fileId: "f1" }],
      esawToken: "esaw-token",
      envelope: {},
    }),
};
