// The accounts of the sandbox as Trustflow is configured with them: one set for each simulated provider.
import { join } from "node:path";
import { environmentName } from "trustflow/internal/config/errors.js";
import { providers } from "trustflow/internal/providers/registry.js";

export interface ServedSandbox {
  url: string;
  tlsUrl: string;
  /** Where it keeps the files of mutual TLS. */
  pkiDirectory: string;
}

/** The environment that configures the account `name` for every provider, as the sandbox's user `sandbox`. */
export function sandboxAccount(
  name: string,
  { url, tlsUrl, pkiDirectory }: ServedSandbox,
): Record<string, string> {
  const certificate = {
    certificateFile: join(pkiDirectory, "client.pem"),
    keyFile: join(pkiDirectory, "client-key.pem"),
    caFile: join(pkiDirectory, "ca.pem"),
  };
  return Object.fromEntries(
    Object.entries(providers).flatMap(([provider, { sandboxKeys }]) =>
      Object.entries(sandboxKeys({ url, tlsUrl, certificate })).map(([key, value]) => [
        environmentName(`accounts.${name}.${provider}.${key}`),
        value,
      ]),
    ),
  );
}
