// Checks that the database is reachable, migrated and durable, that its clock is right, and what it has noted.
import { isFlooded } from "../../callbacks/inbox/inbox.js";
import { requireOwnStore } from "../../cleanup/own-store.js";
import { ConfigurationError } from "../../config/config.js";
import type { Config } from "../../config/config.js";
import { accountsOf } from "../../providers/accounts.js";
import type { ConfigWithAccounts } from "../../providers/accounts.js";
import { durabilityOf } from "../../postgres/durability.js";
import { ownerUser } from "../../postgres/grants.js";
import { pendingMigrations } from "../../postgres/migrate.js";
import type { Pool } from "../../postgres/pool.js";
import { askDatabase, openPool, withReachableDatabase } from "../../roles/database.js";
import { compareClocks, Problem, setting, withOpened, skippedCheck } from "./check.js";
import type { Check } from "./check.js";
import type { LookUpReport } from "../../journal/look-up-proofs.js";
import { documentStoreOf } from "../../config/document-store.js";
import { lookUpProofsOf } from "../../config/look-up-proofs.js";
import { entryOf, providerNames } from "../../providers/registry.js";

interface Database {
  pool: Pool;
  version: string;
}

export function databaseChecks(config: ConfigWithAccounts, opened: Promise<Database>): Check[] {
  const here = (work: (pool: Pool) => Promise<string>) => () =>
    withOpened("the database", opened, ({ pool }) => work(pool));
  return [
    ["database", async () => writable(await opened)],
    ["migrations", here(migrations)],
    ["user of the database", here((pool) => databaseUser(pool, config))],
    ["durability", here(durability)],
    ["clock of the database", here(databaseClock)],
    ["documents of the database", here((pool) => documentsOf(pool, config))],
    ["callback floods", here(callbackFloods)],
    ["clean-up", here(cleanup)],
    ...lookUpChecks(config, here),
  ];
}

/** Each role asks the same. A standby answers every read, so nothing else shows it. */
async function writable({ pool, version }: Database): Promise<string> {
  const answer = await askDatabase(pool);
  if (answer === true) return version;
  throw new Problem("databaseAway", `${version}: ${answer}`);
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

/** A worker does not start otherwise. */
async function documentsOf(pool: Pool, config: Config): Promise<string> {
  await requireOwnStore(pool, documentStoreOf(config));
  return "the document store has data keys, or no process owns a document yet";
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
     from trustflow.callback_addresses where ${isFlooded} order by address limit $1`,
    [MAX_NAMED + 1],
  );
  if (rows.length === 0) return "no address has more callbacks than its process receives";
  const named = rows.slice(0, MAX_NAMED).map(({ name, count }) => `${name} (${count} more)`);
  const others = rows.length > MAX_NAMED ? " and others" : "";
  throw new Problem("callbackFlood", `${named.join(", ")}${others}`);
}

const CLEANUP_DAYS = 2;

async function cleanup(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ at: Date; isOverdue: boolean }>(
    `select ended_at as at, ended_at < clock_timestamp() - make_interval(days => $1) as "isOverdue" from trustflow.cleanups`,
    [CLEANUP_DAYS],
  );
  if (rows.some(({ isOverdue }) => !isOverdue))
    return `reached its end within ${CLEANUP_DAYS} days`;
  throw new Problem("cleanupOverdue", `last reached its end at ${rows[0]?.at.toISOString()}`);
}

// Shows the proofs of look-ups that rest on an assumption (docs/reading-the-specification.md §1, docs/decisions/0017). It
// reads the database and calls no provider.

/** The accounts whose look-ups rest on an assumption; last those of which another configuration would make one possible. */
function lookUpChecks(
  config: ConfigWithAccounts,
  here: (work: (pool: Pool) => Promise<string>) => Check[1],
): Check[] {
  const found = providerNames.flatMap((provider) => {
    const { whyNoLookUp } = entryOf(provider);
    if (whyNoLookUp === undefined) return [];
    const accounts = accountsOf(config, provider) as unknown as Record<string, AccountWithLookUp>;
    return Object.values(accounts).map((account) => {
      const { name, lookUpConfiguration: configuration } = account;
      const check = `look-up ${name} ${provider}`;
      const of = { provider, account: name, configuration };
      return { check, of, why: whyNoLookUp(account) };
    });
  });
  return [
    ...found
      .filter(({ why }) => why === undefined)
      .map(({ check, of }): Check => [check, here((pool) => lookUps(config, pool, of))]),
    ...found.flatMap(({ check, why }) => (why === undefined ? [] : [skippedCheck(check, why)])),
  ];
}

interface AccountWithLookUp {
  name: string;
  lookUpConfiguration: string;
}

async function lookUps(
  config: Config,
  pool: Pool,
  of: { provider: string; account: string; configuration: string },
): Promise<string> {
  const reports = await lookUpProofsOf(config, pool).report(of);
  if (reports.length === 0)
    return "not known yet whether it finds our own items: no item was submitted with this configuration; until then a lost answer needs an operator decision";
  const detail = reports.map((report) => `${nameOf(report)} ${said(report)}`).join("; ");
  const findings = new Set(reports.map(({ finding }) => finding));
  if (findings.has("missing")) throw new Problem("lookUpFindsNothing", detail);
  if (findings.has("late")) throw new Problem("lookUpTooSlow", detail);
  return detail;
}

const nameOf = ({ operation, form }: LookUpReport) => `${operation} (${form})`;

function said({ finding, foundAt, isLooking }: LookUpReport): string {
  const at = foundAt?.toISOString() ?? "";
  const words = {
    found: `finds our own items (${at})`,
    late: `finds our own items, but too late (${at})`,
    missing: `does not find our own items (${at})`,
    unproven: isLooking
      ? "is being tested with one of our items: not known yet"
      : "not known yet whether it finds our own items",
  };
  return words[finding];
}
