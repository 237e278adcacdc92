// An account of the envelope-based one-shot signature, with its two hosts: its keys in the configuration, and the account as
// the client takes it (P1 §4.5, §5.5).
import { z } from "zod";
import {
  clientCertificate,
  names,
  needsCertificate,
  timeoutSeconds,
} from "../../config/account-fields.js";
import {
  accountSecret,
  baseUrl,
  matching,
  section,
  text,
  tlsBaseUrl,
} from "../../config/fields.js";
import type { Host } from "../http/call.js";
import { ClientCertificate } from "../http/client-certificate.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

export const keys = z
  .strictObject({
    caBaseUrl: tlsBaseUrl().describe("of the certificate authority's host (P1 §4.5), `https`"),
    ...clientCertificate,
    esignBaseUrl: baseUrl().describe("of the envelope host"),
    apiToken: accountSecret().describe("secret; of the envelope host (P1 §5.5)"),
    vendor: matching(/^[\w.-]+$/, "must be a name, without spaces").describe(
      "the VENDOR in `GenericSigningPlugin<VENDOR>OneShot` (P1 §2.10)",
    ),
    timeoutSeconds,
    filePart: text()
      .default("File")
      .describe("assumed; the part of an upload that carries the file (P1 §4.5)"),
    members: section({
      envelopeId: names("EnvelopeId").describe(
        "list; assumed: the names that the id may have in the answer of the envelope send (P1 §4.5)",
      ),
    }),
  })
  .superRefine(needsCertificate);

export function accountOf(given: z.infer<typeof keys>, { name, onKept }: AccountSettings) {
  const { caBaseUrl, esignBaseUrl, apiToken, vendor, timeoutSeconds: seconds, ...more } = given;
  const { filePart, members, ...files } = more;
  const timeoutMs = seconds * 1_000;
  const tls = new ClientCertificate(files, onKept);
  const ca: Host = { baseUrl: caBaseUrl, timeoutMs, tls };
  const esign: Host = { baseUrl: esignBaseUrl, timeoutMs };
  return {
    name,
    ca,
    esign,
    apiToken,
    vendor,
    filePart,
    members: { EnvelopeId: members.envelopeId },
  };
}

export type EnvelopeSignatureAccount = ReturnType<typeof accountOf>;

export function sandboxKeys({ url, tlsUrl, certificate }: ServedSandbox) {
  return {
    caBaseUrl: tlsUrl,
    ...certificate,
    esignBaseUrl: url,
    apiToken: "sandbox-api-token",
    vendor: "SANDBOX",
  };
}
