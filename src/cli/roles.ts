// The roles of a deployment: `worker`, `receiver`, `relay` and `codec-server`, each one process (docs/design.md §12).
import type { Command } from "commander";
import { loadConfig, required, requireSecrets, ringOf } from "../config.js";
import type { Config } from "../config.js";
import { addCommand } from "./command.js";
import { mayOnlyRead, payloadKeys, readingRing } from "../payload-keys.js";
import { Health } from "../health.js";
import { callbackParsers } from "../providers/callbacks.js";
import type { Pool } from "../postgres/pool.js";
import { CommandError, exitCodes } from "./output/exit.js";
import { bodyKeysOf, openMigratedPool, requireDurability, warnOfOwner } from "./parts.js";
import { temporalInReach } from "./temporal.js";
import { roleLogger, type RunningRole, runRole, withHealth, withMetrics } from "./role.js";

export function addRoles(program: Command): void {
  const roles = [
    ["worker", "run the processes and the calls to the providers", worker],
    ["receiver", "take the providers' callbacks into the inbox", receiver],
    ["relay", "bring callbacks from the inbox to their processes", relay],
    ["codec-server", "let the Web UI decode payloads", codecServer],
  ] as const;
  for (const [name, summary, start] of roles) {
    addCommand(program, name, {
      summary,
      details: `Runs until SIGTERM or SIGINT, finishes what is under way, and ends with 0; a second signal changes nothing.
Prints one JSON line when it is ready: {"ready":"${name}",…}; logs go to stderr.`,
      example: `trustflow ${name}`,
    }).action(() => runRole(name, () => start(loadConfig())));
  }
}

async function worker(config: Config): Promise<RunningRole> {
  const log = roleLogger("worker", config.log.level);
  requireSecrets(config.accounts);
  const pool = await openMigratedPool(config, "worker", databaseAway(log));
  await requireDurability(pool);
  await warnOfOwner(pool, config, log);
  await requireSearchAttributes();
  const { startWorker } = await import("../worker.js");
  const { installRuntime } = await import("../temporal/logging.js");
  const { metricsAddress } = config.worker;
  installRuntime({ level: config.log.level, ...(metricsAddress && { metricsAddress }) });
  const running = await startWorker(config, pool);
  const health = new Health({
    needs: {
      polling: () => running.isPolling(),
      PostgreSQL: () => askDatabase(pool),
      Temporal: () => running.reachTemporal(),
    },
  });
  const server = await withHealth(config.worker, health);
  return {
    health,
    details: server.details,
    ended: running.run,
    async close() {
      running.shutdown();
      await running.run.catch(() => undefined);
      await server.close();
      await pool.end();
    },
  };
}

async function requireSearchAttributes(): Promise<void> {
  const { connectPlain } = await import("./temporal.js");
  const { missingSearchAttributes } = await import("../temporal/visibility/search-attributes.js");
  const { connection, namespace } = await connectPlain();
  try {
    const missing = await missingSearchAttributes(connection, namespace);
    if (missing.length === 0) return;
    throw new CommandError(
      exitCodes.outOfReach,
      `The namespace "${namespace}" lacks the search attributes ${missing.join(", ")}: run "trustflow migrate"`,
    );
  } finally {
    await connection.close();
  }
}

async function receiver(config: Config): Promise<RunningRole> {
  const { startReceiver } = await import("../callbacks/receiver/receiver.js");
  const { receiverMetrics } = await import("../callbacks/receiver/metrics.js");
  const log = roleLogger("receiver", config.log.level);
  const pool = await openMigratedPool(config, "receiver", databaseAway(log));
  await warnOfOwner(pool, config, log);
  const metrics = receiverMetrics(() => started.inFlight());
  const health = new Health({ needs: { PostgreSQL: () => askDatabase(pool) } });
  const started = await startReceiver({
    pool,
    health: health.answer,
    ring: ringOf(config, "callback"),
    sealRing: ringOf(config, "inboxPublic"),
    quota: config.callbacks,
    ...config.receiver,
    ...metrics.hooks,
    logger: log,
  });
  const served = await withMetrics(config.receiver, metrics.registry);
  return {
    health,
    url: started.url,
    details: served.details,
    async close() {
      await started.close();
      await served.close();
      await pool.end();
    },
  };
}

async function relay(config: Config): Promise<RunningRole> {
  const { startRelay } = await import("../callbacks/relay/relay.js");
  const { relayMetrics } = await import("../callbacks/relay/metrics.js");
  const { countAttentions } = await import("../temporal/visibility/attentions.js");
  const { watchStuck } = await import("../temporal/visibility/stuck-watch.js");
  const { askTemporal, connectClient } = await import("../temporal/connection.js");
  const log = roleLogger("relay", config.log.level);
  const pool = await openMigratedPool(config, "relay", databaseAway(log));
  await warnOfOwner(pool, config, log);
  const { ring: codec, writeRing } = payloadKeys(config);
  await temporalInReach();
  const temporal = await connectClient(codec, { writeRing });
  // A callback address names its namespace, and one connection serves them all.
  const { Client } = await import("@temporalio/client");
  const { dataConverter } = await import("../temporal/codec/data-converter.js");
  const clients = new Map([[temporal.namespace, temporal.client]]);
  const clientFor = (namespace: string) => {
    const known = clients.get(namespace);
    if (known) return known.workflow;
    const { connection } = temporal;
    const converter = dataConverter(codec, writeRing);
    const client = new Client({ connection, namespace, dataConverter: converter });
    clients.set(namespace, client);
    return client.workflow;
  };
  const { connection, namespace } = temporal;
  // Only where somebody reads it.
  const stuck = config.relay.metricsAddress
    ? watchStuck({ connection, namespace }, config.stuck.scanSeconds * 1_000)
    : undefined;
  const metrics = relayMetrics({
    pool,
    isListening: () => started.health().listening,
    attentions: () => countAttentions(temporal.client),
    stuck: () => stuck?.counts(),
  });
  const leaseMs = config.relay.leaseSeconds * 1_000;
  const started = await startRelay({
    pool,
    ring: ringOf(config, "callback"),
    bodyKeys: bodyKeysOf(config),
    clientFor,
    ...(await callbackParsers(config)),
    unmatchedMs: config.relay.unmatchedSeconds * 1_000,
    eventsPerProcess: config.callbacks.eventsPerProcess,
    gatherMs: config.relay.gatherMs,
    leaseMs,
    signalTimeoutMs: Math.min(10_000, leaseMs / 3),
    onEvent: metrics.onEvent,
    onWake: metrics.onWake,
    logger: log,
  });
  const health = new Health({
    needs: {
      listening: () => started.health().listening,
      PostgreSQL: () => askDatabase(pool),
      Temporal: () => askTemporal(temporal.connection),
    },
    details: () => started.health(),
  });
  const server = await withHealth(config.relay, health);
  const served = await withMetrics(config.relay, metrics);
  return {
    health,
    details: { ...server.details, ...served.details },
    async close() {
      await started.close();
      await server.close();
      await served.close();
      await stuck?.close();
      await temporal.close();
      await pool.end();
    },
  };
}

async function codecServer(config: Config): Promise<RunningRole> {
  const { startCodecServer } = await import("../temporal/codec/codec-server.js");
  const { host, port, token, corsOrigins } = config.codecServer;
  const health = new Health();
  const started = await startCodecServer({
    health: health.answer,
    ring: readingRing(config),
    isReadOnly: mayOnlyRead(config),
    host,
    port,
    token: required(token, "codecServer.token").reveal(),
    corsOrigins,
    logger: roleLogger("codec-server", config.log.level),
  });
  return { health, ...started };
}

function askDatabase(pool: Pool): Promise<unknown> {
  return pool.query({ text: "select 1", query_timeout: 2_000 } as { text: string });
}

function databaseAway(log: {
  warn(message: string, details: object): void;
}): (error: Error) => void {
  return (error) =>
    log.warn("a database connection broke", { code: (error as { code?: string }).code });
}
