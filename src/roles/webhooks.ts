// The relay's webhooks, wired from the configuration (docs/webhooks.md).
import { ConfigurationError } from "../config/config.js";
import type { Config } from "../config/config.js";
import type { Secret } from "../contracts/shared/values.js";
import type { Pool } from "../postgres/pool.js";
import { SoleHolder } from "../postgres/sole-holder.js";
import type { connectClient } from "../temporal/connection.js";
import type { Endpoint } from "../webhooks/outbox.js";
import { keyOf } from "../webhooks/signature.js";
import type { RoleLogger } from "./role.js";

/** Undefined without endpoints: then nothing is looked for, and nothing stored. */
export async function webhooksOf(
  { webhooks, relay }: Config,
  pool: Pool,
  { client, namespace }: Awaited<ReturnType<typeof connectClient>>,
  logger: RoleLogger,
) {
  const endpoints = endpointsOf(webhooks);
  if (endpoints.length === 0) return undefined;
  const { startWebhooks } = await import("../webhooks/webhooks.js");
  const { Deliveries } = await import("../webhooks/deliveries.js");
  const { EventLooks } = await import("../temporal/visibility/process-events.js");
  const looking = new SoleHolder(pool, `events of processes of ${namespace}`);
  const started = startWebhooks({
    ...{ pool, namespace, endpoints, logger },
    looksFrom: (where) => new EventLooks(client, where),
    mayLook: () => looking.isHeld(),
    lookMs: relay.eventSeconds * 1_000,
  });
  const deliveries = new Deliveries(pool, namespace);
  return {
    unsettled: () => deliveries.unsettled(endpoints.map(({ name }) => name)),
    async close() {
      await started.close();
      looking.close();
    },
  };
}

/** With their keys. An error names the key of the configuration. */
export function endpointsOf(webhooks: Config["webhooks"]): Endpoint[] {
  return Object.entries(webhooks).map(([name, { secret, previousSecret, ...endpoint }]) => ({
    name,
    ...endpoint,
    keys: [
      signingKey(secret, `webhooks.${name}.secret`),
      ...(previousSecret ? [signingKey(previousSecret, `webhooks.${name}.previousSecret`)] : []),
    ],
  }));
}

function signingKey(secret: Secret, key: string): Buffer {
  const found = keyOf(secret.reveal());
  if (found) return found;
  throw new ConfigurationError([
    `${key}: must be "whsec_" and 24 to 64 bytes in base64, as "trustflow webhooks secret" prints it`,
  ]);
}
