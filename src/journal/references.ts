// Maps a provider's reference to its process, so that a callback to an account's address finds it (docs/design.md §7). The table has the
// name `correlations`.
import type { ProcessKey } from "../crypto/data-key.js";
import type { Pool } from "../postgres/pool.js";

export interface ProcessReference {
  provider: string;
  account: string;
  /** The provider calls it `request_pk`, or it is the id of a conference. */
  reference: string;
  namespace: string;
  workflowId: string;
}

/**
 * Notes that callbacks with this reference belong to the process. Call it once the answer is stored, before it is used. The first
 * process of a reference keeps it.
 */
export async function noteReference(pool: Pool, given: ProcessReference): Promise<void> {
  const { provider, account, reference, namespace, workflowId } = given;
  await pool.query(
    `insert into trustflow.correlations (provider, account, reference, namespace, workflow_id)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [provider, account, reference, namespace, workflowId],
  );
}

/**
 * Like `noteReference`, for a reference that the caller of a process gives: returns the process that has it now. If that is this process
 * already, the retention of the row starts again.
 */
export async function reserveReference(pool: Pool, given: ProcessReference): Promise<ProcessKey> {
  const { provider, account, reference, namespace, workflowId } = given;
  const { rows } = await pool.query<ProcessKey>(
    `insert into trustflow.correlations as c (provider, account, reference, namespace, workflow_id)
     values ($1, $2, $3, $4, $5)
     on conflict (provider, account, reference) do update set created_at =
       case when (c.namespace, c.workflow_id) = ($4, $5) then clock_timestamp() else c.created_at end
     returning namespace, workflow_id as "workflowId"`,
    [provider, account, reference, namespace, workflowId],
  );
  const [owner] = rows;
  if (!owner) throw new Error("PostgreSQL gave no row");
  return owner;
}

/** The references that the process has, also of earlier runs. */
export async function referencesOf(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
): Promise<string[]> {
  const { rows } = await pool.query<{ reference: string }>(
    "select reference from trustflow.correlations where namespace = $1 and workflow_id = $2",
    [namespace, workflowId],
  );
  return rows.map(({ reference }) => reference);
}

/** Moves a reference from a process that has ended to this one; false: `from` does not have it any more. */
export async function takeReference(
  pool: Pool,
  { provider, account, reference, namespace, workflowId }: ProcessReference,
  from: ProcessKey,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update trustflow.correlations set namespace = $4, workflow_id = $5, created_at = clock_timestamp()
     where provider = $1 and account = $2 and reference = $3 and namespace = $6 and workflow_id = $7`,
    [provider, account, reference, namespace, workflowId, from.namespace, from.workflowId],
  );
  return rowCount === 1;
}
