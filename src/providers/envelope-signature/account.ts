// An account of the envelope-based one-shot signature, with its two hosts: its keys in the configuration, and the account as
// the client takes it (P1 §4.5, §5.5).
import { z } from "zod";
import {
  clientCertificate,
  names,
  needsCertificate,
  timeoutSeconds,
} from "../../config/account-fields.js";
import { accountSecret, baseUrl, plain, text, tlsBaseUrl } from "../../config/fields.js";
import type { Secret } from "../../contracts/shared/values.js";
import type { Host } from "../http/call.js";
import { ClientCertificate } from "../http/client-certificate.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";
import type { assumed } from "./wire.js";

export interface EnvelopeSignatureAccount {
  name: string;
  /** The certificate-authority host; its credential is the client certificate in `tls`. */
  ca: Host;
  /** The envelope host. */
  esign: Host;
  /** Of the envelope host. */
  apiToken: Secret;
  /** P1 §2.10: the VENDOR in `GenericSigningPlugin<VENDOR>OneShot`. */
  vendor: string;
  /** Assumed: the part of an upload that carries the file. */
  filePart: string;
  /** Assumed: the names that the envelope's id may have. */
  members: Record<keyof typeof assumed.members, readonly string[]>;
}

export const keys = z
  .strictObject({
    /** The certificate-authority host, which wants the client certificate (P1 §4.5, §5.5). */
    caBaseUrl: tlsBaseUrl(),
    ...clientCertificate,
    /** The envelope host, which wants the API token. */
    esignBaseUrl: baseUrl(),
    apiToken: accountSecret(),
    /** The VENDOR in `GenericSigningPlugin<VENDOR>OneShot` (P1 §2.10). */
    vendor: z.preprocess(plain, z.string().regex(/^[\w.-]+$/, "must be a name, without spaces")),
    timeoutSeconds,
    /** Assumed: the part of an upload that carries the file (P1 §4.5). */
    filePart: text().default("File"),
    /** Assumed: the names that the envelope's id may have in the answer of its send (P1 §4.5). */
    members: z.strictObject({ envelopeId: names("EnvelopeId") }).prefault({}),
  })
  .superRefine(needsCertificate);

export function accountOf(
  given: z.infer<typeof keys>,
  { name, onKept }: AccountSettings,
): EnvelopeSignatureAccount {
  const { caBaseUrl, esignBaseUrl, apiToken, vendor, timeoutSeconds: seconds, ...more } = given;
  const { filePart, members, ...files } = more;
  const timeoutMs = seconds * 1_000;
  return {
    name,
    ca: { baseUrl: caBaseUrl, timeoutMs, tls: new ClientCertificate(files, onKept) },
    esign: { baseUrl: esignBaseUrl, timeoutMs },
    apiToken,
    vendor,
    filePart,
    members: { EnvelopeId: members.envelopeId },
  };
}

export function sandboxKeys({ url, tlsUrl, certificate }: ServedSandbox) {
  return {
    caBaseUrl: tlsUrl,
    ...certificate,
    esignBaseUrl: url,
    apiToken: "sandbox-api-token",
    vendor: "SANDBOX",
  };
}
