// Reads the secrets that events carried: the relay has sealed them for the workers (docs/decisions/0033).
import type { ProcessKey } from "../crypto/data-key.js";
import type { Pool } from "../postgres/pool.js";

export interface EventSecret {
  eventId: string;
  /** For the process alone. */
  sealed: string;
}

/** A leaked address may bring any number. */
const MAX_SECRETS = 10;

/** Newest first; of all runs of the process. */
export async function eventSecretsOf(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
): Promise<EventSecret[]> {
  const { rows } = await pool.query<EventSecret>(
    `select event_id as "eventId", sealed from trustflow.event_secrets
     where namespace = $1 and workflow_id = $2 order by stored_at desc, event_id limit ${MAX_SECRETS}`,
    [namespace, workflowId],
  );
  return rows;
}
