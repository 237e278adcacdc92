// The one way to PostgreSQL: a pool that survives a restart of the server and never waits for long.
import pg from "pg";

export type Pool = pg.Pool;
export type PoolClient = pg.PoolClient;

export interface PoolOptions {
  max?: number;
  /** How long work waits for a connection, new or free; 10 s by default, since the server's machine may be busy. */
  connectTimeoutMs?: number;
  statementTimeoutMs?: number;
  applicationName?: string;
  /** Told about connections that broke while idle; the pool replaces them by itself. */
  onError?: (error: Error) => void;
}

export function createPool(url: string, options: PoolOptions = {}): Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 10_000;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    statement_timeout: statementTimeoutMs,
    // For a server that no longer answers at all; the statement's own timeout comes first.
    query_timeout: statementTimeoutMs + 2_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    application_name: options.applicationName ?? "trustflow",
    onConnect: fixSettings,
  });
  // Without a listener the restart of the database would end the process.
  pool.on("error", (error) => options.onError?.(error));
  return pool;
}

/** The host that a connection would believe without a certificate; a socket of this machine has none. */
export function hostInClear(url: string): string | undefined {
  // Its types know no object here.
  const { host, ssl } = new pg.Client({ connectionString: url }) as {
    host: string;
    ssl: boolean | { rejectUnauthorized?: boolean };
  };
  const isProven = typeof ssl === "object" ? ssl.rejectUnauthorized !== false : ssl;
  return isProven || host.startsWith("/") ? undefined : host;
}

/**
 * Whatever the server, the role or the URL says: a commit that was answered is on the disk, and on a standby where one must confirm (a level
 * that waits for it stays as it is), a statement that has waited for a lock sees what the holder has committed, and a time reads as a time.
 * The locks of a machine that is lost are free after a minute; by default the server keeps its connections for two hours. The pool waits for
 * what this returns, although its types do not say so.
 */
function fixSettings(client: pg.ClientBase): unknown {
  return client.query(
    `set default_transaction_isolation = 'read committed'; set datestyle = 'ISO';
     set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_user_timeout = 60000;
     select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')`,
  );
}

/** The clock that all machines share. */
export async function databaseNow(pool: Pool): Promise<Date> {
  const { rows } = await pool.query<{ now: Date }>("select clock_timestamp() as now");
  return (rows[0] as { now: Date }).now;
}

/** Runs `work` in one transaction on one connection. */
export async function transaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  // A connection that breaks while it is lent out reports it here, not to the pool.
  const ignore = (): void => undefined;
  client.on("error", ignore);
  let broken: Error | undefined;
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.off("error", ignore);
    client.release(broken);
  }
}
