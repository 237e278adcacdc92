// The accounts of the sandbox as Trustflow is configured with them: one set for each simulated provider.
import { join } from "node:path";

export interface ServedSandbox {
  url: string;
  tlsUrl: string;
  /** Where it keeps the files of mutual TLS. */
  pkiDirectory: string;
}

/** What the sandbox answers to a wrong code; the specification names no code (P1 §7.1). */
const wrongOtpCode = "250";

/** The environment that configures the account `name` for every provider, as the sandbox's user `sandbox`. */
export function sandboxAccount(
  name: string,
  { url, tlsUrl, pkiDirectory }: ServedSandbox,
): Record<string, string> {
  const basic = { USERNAME: "sandbox", PASSWORD: "sandbox" };
  const certificate = {
    CERTIFICATE_FILE: join(pkiDirectory, "client.pem"),
    KEY_FILE: join(pkiDirectory, "client-key.pem"),
    CA_FILE: join(pkiDirectory, "ca.pem"),
  };
  const providers: Record<string, Record<string, string>> = {
    EVI_POST: { BASE_URL: url, ...basic },
    DISPOSABLE_CERTIFICATE: {
      BASE_URL: tlsUrl,
      ...basic,
      ...certificate,
      LRA_ID: "lra-1",
      EMAIL_OTP: "true",
      WRONG_OTP_CODES: wrongOtpCode,
    },
    ONE_SHOT_SIGNATURE: { BASE_URL: url, TOKEN: "sandbox-token" },
    ENVELOPE_SIGNATURE: {
      CA_BASE_URL: tlsUrl,
      ...certificate,
      ESIGN_BASE_URL: url,
      API_TOKEN: "sandbox-api-token",
      VENDOR: "SANDBOX",
    },
    MESSAGING_GATEWAY: { BASE_URL: url, ...basic, API_KEY: "sandbox-api-key" },
  };
  const account = name.replaceAll("-", "_").toUpperCase();
  return Object.fromEntries(
    Object.entries(providers).flatMap(([provider, keys]) =>
      Object.entries(keys).map(([key, value]) => [
        `TRUSTFLOW_ACCOUNTS__${account}__${provider}__${key}`,
        value,
      ]),
    ),
  );
}
