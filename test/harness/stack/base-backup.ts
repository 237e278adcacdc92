// A base backup of a PostgreSQL that goes on working, as its manual describes it.
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type pg from "pg";

/** With the owners of the files: PostgreSQL has a user of its own. */
export const copy = (from: string, to: string) => promisify(execFile)("cp", ["-a", from, to]);

/** `pool` is of a superuser, `data` the server's folder; the backup is `to/data`. */
export async function baseBackup(pool: pg.Pool, data: string, to: string): Promise<void> {
  const client = await pool.connect();
  await client.query("select pg_backup_start('test', true)");
  // A file may go while it is copied: the log has what was in it.
  await copy(data, to).catch(() => undefined);
  const { rows } = await client.query<{ labelfile: string }>("select * from pg_backup_stop(false)");
  client.release();
  await copy(`${data}/pg_wal/.`, join(to, "data", "pg_wal"));
  await rm(join(to, "data", "postmaster.pid"));
  await writeFile(join(to, "data", "backup_label"), rows[0]?.labelfile ?? "", { mode: 0o644 });
}
