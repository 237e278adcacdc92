// The certificates that `trustflow doctor` checks, and a line for each address without TLS.
import type { Config } from "../../config.js";
import { temporalSettings } from "../../roles/temporal.js";
import type { ConfiguredAccount } from "./account.js";
import {
  isTls,
  hostAndPortOf,
  providerCertificate,
  serverCertificate,
  temporalCertificate,
  temporalServerOf,
} from "./certificate.js";
import { type Check, skippedCheck } from "./check.js";

/** One check per server, even if several settings name it; one per account if the account has its own certificate authorities. */
export async function certificateChecks(
  { callbacks: { publicUrl } }: Config,
  accounts: readonly ConfiguredAccount[],
): Promise<Check[]> {
  const ofProviders = accounts.flatMap(({ name, hosts }) =>
    hosts.map((host): Check => {
      const check = certificateOf(hostAndPortOf(host.baseUrl)) + (host.tls ? ` (${name})` : "");
      return isTls(host.baseUrl) ? [check, () => providerCertificate(host)] : withoutTls(check);
    }),
  );
  // If several settings name an address, the last one is checked.
  return [...new Map([...ofProviders, ofReceiver(publicUrl), ...(await ofTemporal())])];
}

function ofReceiver(url: string | undefined): Check {
  if (url === undefined)
    return skippedCheck("certificate of the receiver", "callbacks.publicUrl is not set");
  const check = certificateOf(hostAndPortOf(url));
  return isTls(url) ? [check, () => serverCertificate(hostAndPortOf(url))] : withoutTls(check);
}

async function ofTemporal(): Promise<Check[]> {
  const settings = await temporalSettings().catch(() => undefined);
  if (!settings)
    return [skippedCheck("certificate of Temporal", "the Temporal settings are invalid")];
  const server = temporalServerOf(settings);
  if (!server) return [withoutTls("certificate of Temporal")];
  const { cert } = server;
  return [
    [certificateOf(server), () => serverCertificate(server)],
    cert
      ? ["client certificate", () => temporalCertificate(cert)]
      : skippedCheck("client certificate", "none is configured for Temporal"),
  ];
}

function withoutTls(check: string): Check {
  return skippedCheck(check, "the connection has no TLS, so there is no certificate");
}

function certificateOf({ host, port }: { host: string; port: number }): string {
  return `certificate ${host}:${port}`;
}
