// The journal for operators: lists rows and deletes old ones.
import type { Sealer } from "../crypto/data-key.js";
import type { Pool } from "../postgres/pool.js";
import { openDecisions } from "./answers.js";
import type { DecisionRecord } from "./answers.js";
import type { State } from "./row.js";

/** A row without its answer. */
export interface EffectSummary {
  token: string;
  step: string;
  occurrence: string;
  provider?: string;
  operation?: string;
  account?: string;
  effectClass?: string;
  state: State;
  attempts: number;
  tokenGeneration: number;
  leaseUntil?: Date;
  decisions: DecisionRecord[];
  createdAt: Date;
  updatedAt: Date;
}

/** Whether the rows of the process must be kept. */
export type IsOpen = (namespace: string, workflowId: string) => Promise<boolean>;

export async function listEffects(
  pool: Pool,
  sealer: Sealer,
  { namespace, workflowId }: { namespace: string; workflowId: string },
): Promise<EffectSummary[]> {
  const { rows } = await pool.query<
    Record<string, unknown> & { token: string; decisions: Buffer | null }
  >(
    `select token, step, occurrence, provider, operation, account, effect_class as "effectClass", state, attempts, denied as "tokenGeneration",
       lease_until as "leaseUntil", sealed_decisions as decisions, created_at as "createdAt", updated_at as "updatedAt"
     from trustflow.effects where namespace = $1 and workflow_id = $2 order by seq`,
    [namespace, workflowId],
  );
  return rows.map((row) => {
    const present = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    return {
      ...present,
      decisions: openDecisions(sealer, row.token, row.decisions),
    } as unknown as EffectSummary;
  });
}

/**
 * Deletes the rows of closed processes that were last touched before `olderThan`, with their correlations, in small deletes;
 * returns the number of rows.
 */
export async function purgeEffects(
  pool: Pool,
  olderThan: Date,
  isOpen: IsOpen,
  limit = 1_000,
): Promise<number> {
  let removed = 0;
  let after = ["", ""];
  for (;;) {
    const { rows } = await pool.query<{ namespace: string; workflow_id: string }>(
      `select namespace, workflow_id from trustflow.effects where (namespace, workflow_id) > ($1, $2)
       group by namespace, workflow_id having max(updated_at) < $3 order by 1, 2 limit $4`,
      [...after, olderThan, limit],
    );
    const last = rows.at(-1);
    if (last === undefined) return removed;
    after = [last.namespace, last.workflow_id];
    const closed: typeof rows = [];
    for (const row of rows) if (!(await isOpen(row.namespace, row.workflow_id))) closed.push(row);
    // A process that was started again in the meantime has touched its rows and keeps them. The lock shows the newest version
    // of each row, even while another transaction changes it.
    const { rows: counts } = await pool.query<{ count: number }>(
      `with held as (
         select e.token, e.namespace, e.workflow_id, e.updated_at
         from trustflow.effects e join unnest($1::text[], $2::text[]) as closed (namespace, workflow_id)
           on e.namespace = closed.namespace and e.workflow_id = closed.workflow_id
         order by e.seq for update of e),
       gone as (
         delete from trustflow.effects e using held
         where e.token = held.token and not exists (
           select 1 from held o where o.namespace = held.namespace and o.workflow_id = held.workflow_id
             and o.updated_at >= $3)
         returning e.namespace, e.workflow_id),
       forgotten as (
         delete from trustflow.correlations c using (select distinct namespace, workflow_id from gone) as process
         where c.namespace = process.namespace and c.workflow_id = process.workflow_id)
       select count(*)::int as count from gone`,
      [closed.map((row) => row.namespace), closed.map((row) => row.workflow_id), olderThan],
    );
    removed += counts[0]?.count ?? 0;
  }
}
