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

/**
 * The secrets of all runs of the process, in the order in which they are tried. Those that the provider has shown to be the process's own
 * come first, then those that were not tried yet, the newest first: so forged ones, however many, do not hide a genuine one.
 */
export async function eventSecretsOf(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
): Promise<EventSecret[]> {
  const { rows } = await pool.query<EventSecret>(
    `select event_id as "eventId", sealed from trustflow.event_secrets
     where namespace = $1 and workflow_id = $2
     order by opened_at desc nulls last, tried_at nulls first, stored_at desc, event_id limit ${MAX_SECRETS}`,
    [namespace, workflowId],
  );
  return rows;
}

/** `isOpened`: the provider has shown the process's own data for it. */
export async function noteSecretTried(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
  eventId: string,
  isOpened: boolean,
): Promise<void> {
  await pool.query(
    `update trustflow.event_secrets set tried_at = clock_timestamp(),
       opened_at = coalesce(opened_at, case when $4 then clock_timestamp() end)
     where namespace = $1 and workflow_id = $2 and event_id = $3`,
    [namespace, workflowId, eventId, isOpened],
  );
}
