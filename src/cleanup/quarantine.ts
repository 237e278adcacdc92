// Puts unused uploads into quarantine (docs/decisions/0018): they stay readable, a person can release them, and a process that uses one
// releases it (journal/ownership.ts).
import { transaction } from "../postgres/pool.js";
import type { Pool } from "../postgres/pool.js";

export interface Quarantined {
  id: string;
  storedAt: Date;
  quarantinedAt: Date;
}

/** Uploads by their id, with the time of their storing. */
export type Uploads = Map<string, Date>;

const ownerOf = "select 1 from trustflow.documents d where d.id";

/** Only from this time on can a row say who uses a document: the tables may be younger than the documents. */
export async function ownedSince(pool: Pool): Promise<Date> {
  const { rows } = await pool.query<{ since: Date }>(
    "select applied_at as since from trustflow.migrations where name = '0001-tables'",
  );
  if (!rows[0]) throw new Error("the migration 0001-tables is missing");
  return rows[0].since;
}

/** The uploads that no process owns and that were never in quarantine. */
export async function unownedOf(pool: Pool, ids: string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(
    `select given.id from unnest($1::text[]) as given (id) where not exists (${ownerOf} = given.id)
       and not exists (select 1 from trustflow.document_quarantine q where q.id = given.id)`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Newest last; only those that have been there for so many days, by the database's clock. */
export async function quarantined(pool: Pool, days = 0): Promise<Quarantined[]> {
  const { rows } = await pool.query<Quarantined>(
    `select id, stored_at as "storedAt", quarantined_at as "quarantinedAt" from trustflow.document_quarantine q
     where released_at is null and quarantined_at <= clock_timestamp() - $1 * interval '1 day' and not exists (${ownerOf} = q.id)
     order by quarantined_at, id`,
    [days],
  );
  return rows;
}

/** Returns how many. */
export async function quarantine(pool: Pool, uploads: Uploads): Promise<number> {
  const { rowCount } = await pool.query(
    `insert into trustflow.document_quarantine (id, stored_at)
     select given.id, given.stored_at from unnest($1::text[], $2::timestamptz[]) as given (id, stored_at)
     where not exists (${ownerOf} = given.id) on conflict do nothing`,
    [[...uploads.keys()], [...uploads.values()]],
  );
  return rowCount ?? 0;
}

/** Releases documents permanently; returns those that were in quarantine. */
export async function release(pool: Pool, ids: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `update trustflow.document_quarantine set released_at = clock_timestamp()
     where id = any($1::text[]) and released_at is null returning id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes the bytes while the row is locked, so that a process that uses the document waits; returns false if it was released
 * or used in the meantime.
 */
export function removeFromQuarantine(
  pool: Pool,
  id: string,
  removeBytes: () => Promise<void>,
): Promise<boolean> {
  return transaction(pool, async (client) => {
    const held = await client.query(
      "select 1 from trustflow.document_quarantine where id = $1 and released_at is null for update",
      [id],
    );
    const owned = await client.query(`${ownerOf} = $1 limit 1`, [id]);
    if (held.rowCount === 0 || owned.rowCount !== 0) return false;
    await removeBytes();
    await client.query("delete from trustflow.document_quarantine where id = $1", [id]);
    return true;
  });
}
