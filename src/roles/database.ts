// Opens the database for roles and commands, and refuses one that does not answer, lacks migrations or may forget.
import { ConfigurationError, required } from "../config/config.js";
import type { Config } from "../config/config.js";
import { requireTls } from "../config/clear-text.js";
import type { Secret } from "../contracts/shared/values.js";
import { CommandError, exitCodes } from "./exit-codes.js";
import type { Pool, PoolOptions } from "../postgres/pool.js";

type OwnOptions = Pick<PoolOptions, "connectTimeoutMs" | "onError" | "statementTimeoutMs">;

export async function openPool(
  config: Config,
  applicationName: string,
  more: OwnOptions = {},
): Promise<Pool> {
  const given = required(config.database.url, "database.url").reveal();
  const { createPool, hostInClear } = await import("../postgres/pool.js");
  if (!URL.canParse(given)) throw new ConfigurationError(["database.url is not a URL"]);
  const url = withPassword(given, config.database.password);
  requireTls(
    config,
    "database.url",
    readable(() => hostInClear(url)),
  );
  return createPool(url, { applicationName, ...more });
}

/** Its parser reads the files that a URL names. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new ConfigurationError([
      "database.url has an unknown setting, or names a file that cannot be read",
    ]);
  }
}

function withPassword(given: string, password: Secret | undefined): string {
  const url = new URL(given);
  if (password === undefined || url.password !== "") return given;
  url.password = encodeURIComponent(password.reveal());
  return url.href;
}

/** Runs what first talks to the database; whatever keeps it from answering is exit code 4. */
export async function withReachableDatabase<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new CommandError(
      exitCodes.unreachable,
      `Cannot reach the database: ${databaseProblem(error)}`,
    );
  }
}

/** An open pool whose database has all tables of this release, and lets this user see so. */
export async function openMigratedPool(
  config: Config,
  role: string,
  more?: OwnOptions,
): Promise<Pool> {
  const pool = await openPool(config, `trustflow-${role}`, more);
  try {
    const { pendingMigrations } = await import("../postgres/migrate.js");
    const pending = await withReachableDatabase(() => pendingMigrations(pool)).catch(withRemedy);
    if (pending.length > 0) {
      throw new CommandError(
        exitCodes.unreachable,
        `The database lacks ${pending.length} migration(s) (${pending.join(", ")}): run "trustflow migrate"`,
      );
    }
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** A role that was made after the last `migrate` has no rights yet. */
function withRemedy(error: Error): never {
  if (!error.message.includes("permission denied")) throw error;
  throw new CommandError(
    exitCodes.unreachable,
    `${error.message}: run "trustflow migrate" as the owner of the tables, which grants each role its rights`,
  );
}

/** A word in the log where a role of a deployment runs as the owner of its tables. */
export async function warnOfOwner(
  pool: Pool,
  { environment }: Config,
  log: { warn(message: string, details?: object): void },
): Promise<void> {
  if (environment === "sandbox") return;
  const { ownerUser } = await import("../postgres/grants.js");
  const owner = await withReachableDatabase(() => ownerUser(pool));
  if (owner !== undefined)
    log.warn("this role connects as the owner of the tables; give it its own database role");
}

/** Refuses a database that may forget what it has committed: an effect could then happen twice. */
export async function requireDurability(pool: Pool): Promise<void> {
  const { durabilityOf } = await import("../postgres/durability.js");
  const { problems } = await withReachableDatabase(() => durabilityOf(pool));
  if (problems.length === 0) return;
  throw new CommandError(
    exitCodes.unreachable,
    `The database may lose commits: ${problems.join("; ")}`,
  );
}

// A refused connection to a name with several addresses is an AggregateError without a message.
function databaseProblem(error: unknown): string {
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const { message, code, syscall } = inner as NodeJS.ErrnoException;
  const hint = syscall
    ? '. Is it running? With "trustflow dev", source ".trustflow/operator.env"; else check DATABASE_URL'
    : "";
  return (message || code || "unknown error") + hint;
}

/** Rejects while the database does not answer. Says so while it takes no writes, as a standby. */
export async function askDatabase(pool: Pool): Promise<true | string> {
  const text = `select current_setting('transaction_read_only') = 'off' as "isWritable"`;
  const { rows } = await pool.query<{ isWritable: boolean }>({ text, query_timeout: 2_000 } as {
    text: string;
  });
  return rows[0]?.isWritable || "it takes no writes";
}

/** A role logs a connection that breaks while nothing uses it. */
export function logBrokenConnection(log: {
  warn(message: string, details: object): void;
}): (error: Error) => void {
  return (error) =>
    log.warn("a database connection broke", { code: (error as { code?: string }).code });
}
