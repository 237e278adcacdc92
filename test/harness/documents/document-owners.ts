// A process that is about to own a document: its commit comes when the test says so.
import { documentIdOf } from "../../../src/documents/document-id.js";
import { addOwner } from "../../../src/journal/ownership.js";
import type { ProcessKey } from "../../../src/crypto/data-key.js";
import type { Pool } from "../../../src/postgres/pool.js";
import { eventually } from "../outages/wait.js";
import { uncommitted } from "../stack/postgres.js";

/** Its statement is through; returns its commit. */
export const ownUncommitted = (pool: Pool, owner: ProcessKey, uri: string) =>
  uncommitted(pool, (client) =>
    addOwner(client as unknown as Pool, owner, [{ id: documentIdOf(uri), kind: "submitted" }]),
  );

/** A transaction waits for a lock in this database. */
export async function untilLockAwaited(pool: Pool): Promise<void> {
  await eventually("a lock is waited for", async () => {
    const { rowCount } = await pool.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount !== 0;
  });
}
