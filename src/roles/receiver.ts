// The role `receiver`: takes the providers' callbacks into the inbox (docs/design.md §7, §12).
import { ringOf } from "../config/config.js";
import type { Config } from "../config/config.js";
import { Health } from "./health.js";
import { askDatabase, logBrokenConnection, openMigratedPool, warnOfOwner } from "./database.js";
import { roleLogger, withMetrics } from "./role.js";
import type { RunningRole } from "./role.js";

export async function receiver(config: Config): Promise<RunningRole> {
  const { startReceiver } = await import("../callbacks/receiver/receiver.js");
  const { receiverMetrics } = await import("../callbacks/receiver/metrics.js");
  const log = roleLogger("receiver", config.log.level);
  const pool = await openMigratedPool(config, "receiver", {
    onError: logBrokenConnection(log),
    // A provider waits for its answer, and repeats the callback after a 503.
    connectTimeoutMs: 3_000,
  });
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
