// An account of the disposable certificate service: its keys in the configuration, and the account as the client takes it
// (P1 §4.1, §5.1).
import { z } from "zod";
import {
  clientCertificate,
  names,
  needsCertificate,
  sentAs,
  timeoutSeconds,
} from "../../config/account-fields.js";
import {
  accountSecret,
  flag,
  numbers,
  section,
  segment,
  tlsBaseUrl,
  username,
} from "../../config/fields.js";
import type { Host } from "../http/call.js";
import { ClientCertificate } from "../http/client-certificate.js";
import type { AccountSettings, ServedSandbox } from "../provider-entry.js";

export const keys = z
  .strictObject({
    /** By TLS alone, as there is no client certificate without it. */
    baseUrl: tlsBaseUrl(),
    username: username(),
    password: accountSecret(),
    lraId: segment().describe(
      "the Local Registration Authority, one segment of the path (P1 §4.1): no slash, not `.` or `..`",
    ),
    timeoutSeconds,
    ...clientCertificate,
    emailOtp: flag().default(false).describe("whether the LRA has EMAIL codes (P1 §2.1)"),
    wrongOtpCodes: numbers()
      .default([])
      .describe(
        'list of numbers; assumed: the codes that say "wrong code" (P1 §7.1 names none). Without one a wrong code is answered `unknown`',
      ),
    /** Assumed: by which name each member of `validate` is sent (P1 §2.4). */
    validation: section({
      certIdOtp: sentAs("certIdOtp", "the name by which `validate` takes it (P1 §2.4)"),
      deviceCode: sentAs("deviceCode", "the name by which `validate` takes it (P1 §2.4)"),
      otp: sentAs("otp", "the name by which `validate` takes it (P1 §2.4)"),
    }),
    /** Assumed: the names that the OTP identifier may have (P1 §2.5). */
    members: z.strictObject({ otpId: names("otpId") }).prefault({}),
  })
  .superRefine(needsCertificate);

export function accountOf(given: z.infer<typeof keys>, { name, onKept }: AccountSettings) {
  const { timeoutSeconds: seconds, certificateFile, keyFile, pkcs12File, ...more } = given;
  const { passphrase, caFile, ...rest } = more;
  const files = { certificateFile, keyFile, pkcs12File, passphrase, caFile };
  const tls: NonNullable<Host["tls"]> = new ClientCertificate(files, onKept);
  return { ...rest, name, timeoutMs: seconds * 1_000, tls };
}

export type DisposableCertificateAccount = ReturnType<typeof accountOf>;

/** The sandbox answers it to a wrong code; the specification names no code (P1 §7.1). */
const wrongOtpCode = "250";

export function sandboxKeys({ tlsUrl, certificate }: ServedSandbox) {
  return {
    baseUrl: tlsUrl,
    username: "sandbox",
    password: "sandbox",
    ...certificate,
    lraId: "lra-1",
    emailOtp: "true",
    wrongOtpCodes: wrongOtpCode,
  };
}
