// The Temporal that users run: its four services as processes, on a PostgreSQL of their own with fsync on.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { startPostgres } from "../packages/dev/src/servers/postgres.js";
import { startTemporalCluster } from "../test/cluster/temporal-cluster.js";
import { buildPrograms } from "../test/compose/stand-ins/programs.js";

export async function startPersistentTemporal(progress: (line: string) => void) {
  await buildPrograms(progress, ["temporal"]);
  const directory = await mkdtemp(join(tmpdir(), "trustflow-bench-temporal-"));
  const unregister = removeOnExit(directory);
  const postgres = await startPostgres({ directory: join(directory, "postgres") });
  const { address, services, close } = await startTemporalCluster({
    ...{ directory, databaseUrl: postgres.url, of: 1 },
  });
  return {
    address,
    /** Of a superuser. */
    databaseUrl: postgres.url,
    pids: [postgres.pid, ...services.map(({ pid }) => pid)],
    async close() {
      await close();
      await postgres.close();
      await rm(directory, { recursive: true, force: true });
      unregister();
    },
  };
}
