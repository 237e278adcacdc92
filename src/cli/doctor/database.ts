// Checks that the database is reachable, migrated and durable, and that its clock is right.
import { type Config, ConfigurationError } from "../../config.js";
import { durabilityOf } from "../../postgres/durability.js";
import { ownerUser } from "../../postgres/grants.js";
import { pendingMigrations } from "../../postgres/migrate.js";
import type { Pool } from "../../postgres/pool.js";
import { openPool, withReachableDatabase } from "../../roles/database.js";
import { Problem, setting } from "./check.js";
import { compareClocks } from "./clock.js";

export async function openDatabase(config: Config): Promise<{ pool: Pool; version: string }> {
  setting(config.database.url, "database.url");
  const pool = await openPool(config, "trustflow-doctor");
  try {
    const { rows } = await withReachableDatabase(() =>
      pool.query<{ server_version: string }>("show server_version"),
    );
    return { pool, version: `PostgreSQL ${rows[0]?.server_version ?? "?"}` };
  } catch (error) {
    void pool.end();
    if (error instanceof ConfigurationError) throw error;
    throw new Problem("databaseAway", (error as Error).message);
  }
}

/** The owner of the tables can change evidence; outside the sandbox only `migrate` needs that right. */
export async function databaseUser(pool: Pool, { environment }: Config): Promise<string> {
  const owner = await ownerUser(pool);
  if (owner === undefined) return "has only the rights of its role";
  if (environment === "sandbox") return `${owner} owns the tables`;
  throw new Problem("databaseUserOwns", `${owner} has the rights of the owner of the tables`);
}

export async function migrations(pool: Pool): Promise<string> {
  const missing = await pendingMigrations(pool);
  if (missing.length === 0) return "all applied";
  throw new Problem("migrationsMissing", `the database lacks ${missing.join(", ")}`);
}

export async function durability(pool: Pool): Promise<string> {
  const { problems, warnings } = await durabilityOf(pool);
  if (problems.length > 0) throw new Problem("commitsNotDurable", problems.join("; "));
  if (warnings.length > 0) throw new Problem("standbyAsynchronous", warnings.join("; "));
  return "an acknowledged commit survives a crash";
}

export async function databaseClock(pool: Pool): Promise<string> {
  const before = Date.now();
  const { rows } = await pool.query<{ now: number }>(
    "select extract(epoch from clock_timestamp())::float8 * 1000 as now",
  );
  return compareClocks(before, rows[0]?.now ?? 0, Date.now());
}
