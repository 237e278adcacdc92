// The role `relay`: brings callbacks from the inbox to their processes (docs/design.md §7, §12).
import type { WorkflowClient } from "@temporalio/client";
import { ringOf } from "../config/config.js";
import { webhooksOf } from "./webhooks.js";
import type { ConfigWithAccounts } from "../providers/accounts.js";
import { Health } from "./health.js";
import { payloadKeys } from "../config/payload-keys.js";
import type { PayloadKeys } from "../config/payload-keys.js";
import { attentionKinds } from "../contracts/shared/failures.js";
import { searchAttributes } from "../contracts/shared/names.js";
import type { connectClient } from "../temporal/connection.js";
import { accountsWithSecretCallbacks, callbackParsers } from "../providers/callbacks.js";
import { reloadAccounts } from "../providers/reload.js";
import type { Pool } from "../postgres/pool.js";
import { SoleHolder } from "../postgres/sole-holder.js";
import { askDatabase, logBrokenConnection, openMigratedPool, warnOfOwner } from "./database.js";
import { roleLogger, withHealth, withMetrics } from "./role.js";
import type { RunningRole } from "./role.js";
import { requireTemporal } from "./temporal.js";

export async function relay(config: ConfigWithAccounts): Promise<RunningRole> {
  const { secretsNotKept, Relay } = await import("../callbacks/relay/relay.js");
  const { relayMetrics } = await import("../callbacks/relay/metrics.js");
  const { SecretSealer } = await import("../temporal/codec/secrets.js");
  const { connectClient, temporalProblem } = await import("../temporal/connection.js");
  const parsers = await callbackParsers(config);
  const log = roleLogger("relay", config.log.level);
  const pool = await openMigratedPool(config, "relay", { onError: logBrokenConnection(log) });
  await warnOfOwner(pool, config, log);
  const sealer = config.keys.secretsPublic && new SecretSealer(ringOf(config, "secretsPublic"));
  if (!sealer && accountsWithSecretCallbacks(config).length > 0) log.warn(secretsNotKept);
  const keys = payloadKeys(config);
  const settings = await requireTemporal();
  const temporal = await connectClient(keys.ring, { writeRing: keys.writeRing });
  const clientFor = await clientsOf(temporal, keys);
  const stuck = await stuckWatch(config, pool, temporal);
  const webhooks = await webhooksOf(config, pool, temporal, log);
  const metrics = relayMetrics({
    pool,
    isListening: () => started.health().listening,
    ...(await processCounts(temporal)),
    stuck: () => stuck?.counts(),
    webhooks: webhooks?.unsettled,
  });
  const started = new Relay({
    ...{ pool, clientFor, ...parsers, ...settingsOf(config), logger: log },
    sealSecret: sealer && ((secret, processKey) => sealer.seal(secret, processKey)),
    onEvent: metrics.onEvent,
    onWake: metrics.onWake,
  });
  const reloading = reloadAccounts({ accounts: config.accounts, log });
  const health = new Health({
    needs: {
      listening: () => started.health().listening,
      inbox: () => started.health().reading,
      PostgreSQL: () => askDatabase(pool),
      Temporal: () => temporalProblem(temporal.connection, settings),
    },
    details: () => started.health(),
  });
  const server = await withHealth(config.relay, health);
  const served = await withMetrics(config.relay, metrics);
  return {
    health,
    details: { ...server.details, ...served.details },
    async close() {
      reloading.close();
      await Promise.all([started.close(), webhooks?.close(), stuck?.close()]);
      await server.close();
      await served.close();
      await temporal.close();
      await pool.end();
    },
  };
}

/** Counts open processes for the metrics: those that need a decision by kind, and all by process. */
async function processCounts({ client }: Awaited<ReturnType<typeof connectClient>>) {
  const { processes } = await import("../contracts/registry.js");
  const { countOpen } = await import("../temporal/visibility/stuck-watch.js");
  return {
    attentions: () => countOpen(client, searchAttributes.attention.name, attentionKinds),
    open: () => countOpen(client, "WorkflowType", processes),
  };
}

/** Only if metrics are served, and by one relay: a server below 1.30 has to be asked for every open process. */
async function stuckWatch(
  config: ConfigWithAccounts,
  pool: Pool,
  temporal: Awaited<ReturnType<typeof connectClient>>,
) {
  if (!config.relay.metricsAddress) return undefined;
  const { watchStuck } = await import("../temporal/visibility/stuck-watch.js");
  const looking = new SoleHolder(pool, `stuck processes of ${temporal.namespace}`);
  const watch = watchStuck(temporal, config.stuck.scanSeconds * 1_000, () => looking.isHeld());
  return {
    counts: watch.counts,
    async close() {
      await watch.close();
      looking.close();
    },
  };
}

/** A callback address names its namespace, and one connection serves them all. */
async function clientsOf(
  temporal: Awaited<ReturnType<typeof connectClient>>,
  { ring, writeRing }: PayloadKeys,
): Promise<(namespace: string) => WorkflowClient> {
  const { Client } = await import("@temporalio/client");
  const { dataConverter } = await import("../temporal/codec/data-converter.js");
  const clients = new Map([[temporal.namespace, temporal.client]]);
  return (namespace) => {
    const known = clients.get(namespace);
    if (known) return known.workflow;
    const { connection } = temporal;
    const client = new Client({
      ...{ connection, namespace },
      dataConverter: dataConverter(ring, writeRing),
    });
    clients.set(namespace, client);
    return client.workflow;
  };
}

function settingsOf(config: ConfigWithAccounts) {
  const leaseMs = config.relay.leaseSeconds * 1_000;
  return {
    ring: ringOf(config, "callback"),
    bodyKeys: ringOf(config, "inbox"),
    unmatchedMs: config.relay.unmatchedSeconds * 1_000,
    eventsPerProcess: config.callbacks.eventsPerProcess,
    gatherMs: config.relay.gatherMs,
    leaseMs,
    signalTimeoutMs: Math.min(10_000, leaseMs / 3),
  };
}
