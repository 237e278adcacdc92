// Checks the endpoints of webhooks without a request: the host has an address to which the relay may go, answers there, and completes a
// TLS handshake. So nothing counts as an event.
import type { Config } from "../../config/config.js";
import { endpointsOf } from "../../roles/webhooks.js";
import type { Endpoint } from "../../webhooks/outbox.js";
import { lookupFor, PrivateAddress } from "../../webhooks/public-address.js";
import { hostAndPortOf, isTls, serverCertificate } from "./certificate.js";
import { Problem, skippedCheck } from "./check.js";
import type { Check } from "./check.js";
import { open } from "./reach.js";

export function webhookChecks({ webhooks }: Config): Check[] {
  const names = Object.keys(webhooks);
  if (names.length === 0)
    return [skippedCheck("webhooks", "no endpoint is configured here; the relays have them")];
  return names.map((name): Check => [
    `webhook ${name}`,
    async () => {
      const [endpoint] = endpointsOf({ [name]: webhooks[name]! });
      return endpoint ? reachEndpoint(endpoint) : "";
    },
  ]);
}

async function reachEndpoint({ name, url, allowPrivate }: Endpoint): Promise<string> {
  const { host, port } = hostAndPortOf(url);
  const where = `${host}:${port}`;
  try {
    const lookup = lookupFor({ url, allowPrivate });
    await open({ host, port, lookup });
    if (!isTls(url)) return `${where} is reachable, without TLS`;
    return await serverCertificate({ host, port, lookup });
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof PrivateAddress)
      throw new Problem(
        "webhookAddressPrivate",
        `webhooks.${name}: ${where} has no public address, so the relay sends nothing there`,
      );
    const { code = "unknown error" } = error as { code?: string };
    throw new Problem("webhookAway", `cannot reach ${where} (${code})`);
  }
}
