// Where the relay puts a secret that an event carries, sealed for the workers (docs/decisions/0033).
import type { ProcessKey } from "../../crypto/data-key.js";
import type { Pool } from "../../postgres/pool.js";

export interface EventSecret {
  eventId: string;
  sealed: string;
  /** Whether the provider has shown the process's own data for it. */
  isOpened?: boolean;
}

/** The first secret of an event stays. */
export async function storeEventSecrets(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
  secrets: EventSecret[],
): Promise<void> {
  await pool.query(
    `insert into trustflow.event_secrets (namespace, workflow_id, event_id, sealed, opened_at)
     select $1, $2, event_id, sealed, case when is_opened then clock_timestamp() end
     from unnest($3::text[], $4::text[], $5::boolean[]) as given (event_id, sealed, is_opened)
     on conflict do nothing`,
    [
      namespace,
      workflowId,
      secrets.map(({ eventId }) => eventId),
      secrets.map(({ sealed }) => sealed),
      secrets.map(({ isOpened = false }) => isOpened),
    ],
  );
}
