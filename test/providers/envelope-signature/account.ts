// The account that the tests of the envelope client use, and one call of each step.
import * as client from "../../../src/providers/envelope-signature/client.js";
import type { EnvelopeSignatureAccount } from "../../../src/providers/envelope-signature/client.js";
import { defaultAccount } from "../default-account.js";
import type { Say } from "../default-account.js";
import type { Operation } from "../../../src/providers/registry.js";

export function accountAt(
  caUrl: string,
  esignUrl: string = caUrl,
  timeoutMs = 5000,
): EnvelopeSignatureAccount {
  const keys = { caBaseUrl: "https://localhost", pkcs12File: "none.p12", esignBaseUrl: esignUrl };
  return {
    ...defaultAccount("envelope-signature", { ...keys, apiToken: "api-token", vendor: "Acme" }),
    ca: { baseUrl: caUrl, timeoutMs },
    esign: { baseUrl: esignUrl, timeoutMs },
  };
}

export const pdf = { name: "a.pdf", bytes: Buffer.from("%PDF-1.4"), mediaType: "application/pdf" };

export function callsWith(
  say: Say = (text) => text,
): Record<
  Operation<"envelope-signature">,
  (account: EnvelopeSignatureAccount) => Promise<unknown>
> {
  const fields = { [say("Name")]: say("Contract") };
  const file = { ...pdf, name: say(pdf.name), bytes: Buffer.from(say("%PDF-1.4")) };
  const documents = [{ fileId: say("f1") }];
  return {
    esawoneshot: (account) => client.esawoneshot(account, fields),
    uploadFile: (account) => client.uploadFile(account, file),
    sendEnvelope: (account) =>
      client.sendEnvelope(account, { documents, esawToken: say("esaw-token"), envelope: fields }),
  };
}

export const calls = callsWith();
