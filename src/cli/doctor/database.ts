// Checks that the database is reachable, migrated and durable, that its clock is right, and what it has noted.
import { type Config, ConfigurationError } from "../../config/config.js";
import type { ConfigWithAccounts } from "../../providers/accounts.js";
import { durabilityOf } from "../../postgres/durability.js";
import { ownerUser } from "../../postgres/grants.js";
import { pendingMigrations } from "../../postgres/migrate.js";
import type { Pool } from "../../postgres/pool.js";
import { openPool, withReachableDatabase } from "../../roles/database.js";
import { compareClocks, Problem, setting, withOpened } from "./check.js";
import type { Check } from "./check.js";
import { lookUpChecks } from "./look-ups.js";

interface Database {
  pool: Pool;
  version: string;
}

export function databaseChecks(config: ConfigWithAccounts, opened: Promise<Database>): Check[] {
  const here = (work: (pool: Pool) => Promise<string>) => () =>
    withOpened("the database", opened, ({ pool }) => work(pool));
  return [
    ["database", async () => (await opened).version],
    ["migrations", here(migrations)],
    ["user of the database", here((pool) => databaseUser(pool, config))],
    ["durability", here(durability)],
    ["clock of the database", here(databaseClock)],
    ["callback floods", here(callbackFloods)],
    ...lookUpChecks(config, here),
  ];
}

export async function openDatabase(config: Config): Promise<Database> {
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
async function databaseUser(pool: Pool, { environment }: Config): Promise<string> {
  const owner = await ownerUser(pool);
  if (owner === undefined) return "has only the rights of its role";
  if (environment === "sandbox") return `${owner} owns the tables`;
  throw new Problem("databaseUserOwns", `${owner} has the rights of the owner of the tables`);
}

async function migrations(pool: Pool): Promise<string> {
  const missing = await pendingMigrations(pool);
  if (missing.length === 0) return "all applied";
  throw new Problem("migrationsMissing", `the database lacks ${missing.join(", ")}`);
}

async function durability(pool: Pool): Promise<string> {
  const { problems, warnings } = await durabilityOf(pool);
  if (problems.length > 0) throw new Problem("commitsNotDurable", problems.join("; "));
  if (warnings.length > 0) throw new Problem("standbyAsynchronous", warnings.join("; "));
  return "an acknowledged commit survives a crash";
}

async function databaseClock(pool: Pool): Promise<string> {
  const before = Date.now();
  const { rows } = await pool.query<{ now: number }>(
    "select extract(epoch from clock_timestamp())::float8 * 1000 as now",
  );
  return compareClocks(before, rows[0]?.now ?? 0, Date.now());
}

/** More named addresses are "others". */
const MAX_NAMED = 5;

async function callbackFloods(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string; count: number }>(
    `select coalesce(workflow_id, 'account ' || account) as name, surplus + refused as count
     from trustflow.callback_addresses where surplus > 0 or refused > 0 order by address limit $1`,
    [MAX_NAMED + 1],
  );
  if (rows.length === 0) return "no address has more callbacks than its process receives";
  const named = rows.slice(0, MAX_NAMED).map(({ name, count }) => `${name} (${count} more)`);
  const others = rows.length > MAX_NAMED ? " and others" : "";
  throw new Problem("callbackFlood", `${named.join(", ")}${others}`);
}
