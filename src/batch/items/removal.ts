// Removes what is known of batches: for an erasure, and past its retention. The documents of an archive's parts have owners of their own.
import type { ProcessKey } from "../../crypto/data-key.js";
import type { Pool } from "../../postgres/pool.js";

/** A batch may have a million notices, so they go in small deletes. */
const ITEMS = 10_000;

export async function removeBatch(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from trustflow.batches where namespace = $1 and workflow_id = $2",
    [namespace, workflowId],
  );
  for (const { id } of rows) await remove(pool, id);
}

/**
 * Batches that were opened before `olderThan`, and of whose process the journal has no row any more: the rows of both are kept
 * equally long.
 */
export async function purgeBatches(pool: Pool, olderThan: Date): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from trustflow.batches b where created_at < $1 and not exists (
       select from trustflow.effects e where e.namespace = b.namespace and e.workflow_id = b.workflow_id) order by id`,
    [olderThan],
  );
  for (const { id } of rows) await remove(pool, id);
}

async function remove(pool: Pool, batch: string): Promise<void> {
  for (let removed: number | null = ITEMS; removed === ITEMS;)
    ({ rowCount: removed } = await pool.query(
      `delete from trustflow.batch_items where batch = $1 and evidence_id in (
         select evidence_id from trustflow.batch_items where batch = $1 limit ${ITEMS})`,
      [batch],
    ));
  await pool.query("delete from trustflow.batches where id = $1", [batch]);
}
