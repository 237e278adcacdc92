// Lets an owner work on its document while nobody can release it.
import type { ProcessKey } from "../crypto/data-key.js";
import { transaction } from "../postgres/pool.js";
import type { Pool } from "../postgres/pool.js";
import { documentLock } from "./ownership.js";
import { asUnavailable } from "./patience.js";

/**
 * Runs `work` if the process owns the document and its erasure has not begun. Who releases the document waits for the end of
 * `work`, and whoever released it before has deleted the owner's row.
 */
export async function whileOwner(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
  id: string,
  work: () => Promise<void>,
): Promise<void> {
  let failure: unknown;
  const owned = transaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock_shared(${documentLock("$1")})`, [id]);
    const { rowCount } = await client.query(
      `select from trustflow.documents where id = $1 and namespace = $2 and workflow_id = $3
       and not exists (select from trustflow.erasures where namespace = $2 and workflow_id = $3)`,
      [id, namespace, workflowId],
    );
    if (rowCount === 1) await work().catch((error: unknown) => (failure = error));
  });
  await asUnavailable(owned);
  if (failure !== undefined) throw failure;
}
