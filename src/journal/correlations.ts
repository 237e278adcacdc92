// Maps a provider's reference to its process, so that a callback to an account's address finds it (docs/design.md §7).
import type { Pool } from "../postgres/pool.js";

export interface Correlation {
  provider: string;
  account: string;
  /** The provider's name of the reference: `request_pk`, the id of a conference. */
  reference: string;
  namespace: string;
  workflowId: string;
}

/** The first process of a reference keeps it. */
export async function correlate(pool: Pool, correlation: Correlation): Promise<void> {
  const { provider, account, reference, namespace, workflowId } = correlation;
  await pool.query(
    `insert into trustflow.correlations (provider, account, reference, namespace, workflow_id)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [provider, account, reference, namespace, workflowId],
  );
}
