// The role `worker`: runs the processes and the calls to the providers (docs/design.md §12).
import { setFlagsFromString } from "node:v8";
import { requireOwnStore } from "../cleanup/own-store.js";
import { ConfigurationError, requireSecrets } from "../config/config.js";
import { documentStoreOf } from "../config/document-store.js";
import { NamespaceMissingError } from "../errors/index.js";
import type { Pool } from "../postgres/pool.js";
import type { ConfigWithAccounts } from "../providers/accounts.js";
import { CommandError, exitCodes } from "./exit-codes.js";
import { Health } from "./health.js";
import {
  askDatabase,
  logBrokenConnection,
  openMigratedPool,
  requireDurability,
  warnOfOwner,
} from "./database.js";
import type { ShutdownTimes } from "../worker.js";
import { roleLogger, withHealth } from "./role.js";
import type { RunningRole } from "./role.js";
import { startTracing } from "./tracing.js";

/**
 * Without it V8 lets garbage pile up to several times what lives before it collects any: a batch of 100,000 took 390 MB, with it 250,
 * at the same CPU. `--max-old-space-size` would end a worker with many cached processes.
 */
const HEAP_GROWING_PERCENT = 20;

export async function worker(
  config: ConfigWithAccounts,
  times?: ShutdownTimes,
): Promise<RunningRole> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const log = roleLogger("worker", config.log.level);
  requireSecrets(config.accounts);
  const pool = await openMigratedPool(config, "worker", { onError: logBrokenConnection(log) });
  await requireDurability(pool);
  await requireOwnStore(pool, documentStoreOf(config));
  await warnOfOwner(pool, config, log);
  await requireNamespace(pool);
  const { startWorker } = await import("../worker.js");
  const { gaugeReady, installRuntime } = await import("../temporal/logging.js");
  const { metricsAddress } = config.worker;
  try {
    installRuntime({ level: config.log.level, ...(metricsAddress && { metricsAddress }) });
  } catch (error) {
    if (metricsAddress === undefined) throw error;
    throw new ConfigurationError([
      "worker.metricsAddress: the host must be an IP address of this machine, and the port a free one",
    ]);
  }
  const tracing = await startTracing("worker", log);
  const running = await startWorker(config, pool, times);
  const health = new Health({
    needs: {
      polling: () => running.isPolling(),
      PostgreSQL: () => askDatabase(pool),
      Temporal: () => running.temporalProblem(),
    },
  });
  const server = await withHealth(config.worker, health);
  const ready = metricsAddress ? gaugeReady(() => health.look()) : undefined;
  return {
    health,
    details: server.details,
    ended: Promise.race([running.run, running.problem]),
    async close() {
      ready?.close();
      running.shutdown();
      // Rejects where work was given up that does not end. It may hold a connection, so the pool is not waited for.
      await running.run;
      await server.close();
      await tracing.close();
      await pool.end();
    },
  };
}

/** A worker with the journal of another namespace would not know what its processes have sent, and send it again. */
async function requireNamespace(pool: Pool): Promise<void> {
  const { connectPlain } = await import("./temporal.js");
  const { refuseReplaced } = await import("../cleanup/own-namespaces.js");
  const { missingSearchAttributes } = await import("../temporal/visibility/search-attributes.js");
  const { isNotFound } = await import("../temporal/grpc-status.js");
  const { connection, namespace } = await connectPlain();
  try {
    await refuseReplaced(pool, connection, namespace);
    const missing = await missingSearchAttributes(connection, namespace).catch((error: unknown) => {
      throw isNotFound(error) ? new NamespaceMissingError(namespace) : error;
    });
    if (missing.length === 0) return;
    throw new CommandError(
      exitCodes.unreachable,
      `The namespace "${namespace}" lacks the search attributes ${missing.join(", ")}: run "trustflow migrate"`,
    );
  } finally {
    await connection.close();
  }
}
