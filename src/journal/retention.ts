// The journal for operators: lists rows and deletes old ones.
import type { Sealer } from "../crypto/data-key.js";
import type { Pool } from "../postgres/pool.js";
import { withoutNulls } from "../postgres/without-nulls.js";
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
  uncertain: boolean;
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
    `select token, step, occurrence, provider, operation, account, effect_class as "effectClass", state, uncertain, attempts, denied as "tokenGeneration",
       lease_until as "leaseUntil", sealed_decisions as decisions, created_at as "createdAt", updated_at as "updatedAt"
     from trustflow.effects where namespace = $1 and workflow_id = $2 order by seq`,
    [namespace, workflowId],
  );
  return rows.map((row) => {
    const decisions = openDecisions(sealer, row.token, row.decisions);
    return { ...withoutNulls(row), decisions } as unknown as EffectSummary;
  });
}

/**
 * Deletes the rows of closed processes that were last touched before `olderThan`, with their correlations, in small deletes;
 * returns the number of rows. A dry run only counts them.
 */
export async function purgeEffects(
  pool: Pool,
  olderThan: Date,
  isOpen: IsOpen,
  limit = 1_000,
  dryRun = false,
): Promise<number> {
  let removed = 0;
  const found = closedProcesses(pool, "effects where true", "updated_at", olderThan, isOpen, limit);
  for await (const { closed, rows } of found) {
    if (dryRun) {
      removed += rows;
      continue;
    }
    // A process that was started again in the meantime has touched its rows, or reserved its reference, and keeps them. The lock shows the
    // newest version of each row, even while another transaction changes it.
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
         where c.namespace = process.namespace and c.workflow_id = process.workflow_id and c.created_at < $3)
       select count(*)::int as count from gone`,
      [...closed, olderThan],
    );
    removed += counts[0]?.count ?? 0;
  }
  return removed;
}

const withoutEffects = `not exists (
  select from trustflow.effects e where e.namespace = c.namespace and e.workflow_id = c.workflow_id)`;

/** Deletes the correlations of closed processes that have no row in the journal: no effect of theirs takes them with it. */
export async function purgeCorrelations(
  pool: Pool,
  olderThan: Date,
  isOpen: IsOpen,
  limit = 1_000,
): Promise<void> {
  const old = `correlations c where ${withoutEffects}`;
  for await (const { closed } of closedProcesses(pool, old, "created_at", olderThan, isOpen, limit))
    // One that was reserved again in the meantime stays.
    await pool.query(
      `delete from trustflow.correlations c using unnest($1::text[], $2::text[]) as closed (namespace, workflow_id)
       where c.namespace = closed.namespace and c.workflow_id = closed.workflow_id and c.created_at < $3 and ${withoutEffects}`,
      [...closed, olderThan],
    );
}

/** A sample of a look-up serves for a day; it may be a caller's key. */
export async function forgetSamples(pool: Pool, olderThan: Date): Promise<void> {
  await pool.query(
    `update trustflow.look_up_proofs set sample = null, next_look_at = null
     where sample is not null and sampled_at < $1`,
    [olderThan],
  );
}

/** Longer than a delivery is tried. After it one waits for an endpoint that was removed, or was replayed. */
const WAITING_DAYS = 7;
const isSent = `not exists (
  select from trustflow.webhook_deliveries d
  where d.event = s.id and d.state = 'waiting' and d.created_at > clock_timestamp() - interval '${WAITING_DAYS} days')`;

/**
 * Deletes the rows of closed processes that were stored before `olderThan`. The deliveries of an event go with it: while one waits, its
 * event stays.
 */
export async function purgeStored(
  table: "event_secrets" | "process_events",
  pool: Pool,
  olderThan: Date,
  isOpen: IsOpen,
  limit = 1_000,
): Promise<void> {
  const old = `${table} where true`;
  for await (const { closed } of closedProcesses(pool, old, "stored_at", olderThan, isOpen, limit))
    await pool.query(
      `delete from trustflow.${table} s using unnest($1::text[], $2::text[]) as closed (namespace, workflow_id)
       where s.namespace = closed.namespace and s.workflow_id = closed.workflow_id and s.stored_at < $3
         and ${table === "process_events" ? isSent : "true"}`,
      [...closed, olderThan],
    );
}

/** Some of the processes whose newest row is older than a time: the namespaces and the workflow ids of the closed ones. */
interface ClosedProcesses {
  closed: [namespaces: string[], workflowIds: string[]];
  /** How many rows these have. */
  rows: number;
}

async function* closedProcesses(
  pool: Pool,
  rowsOf: string,
  touchedAt: string,
  olderThan: Date,
  isOpen: IsOpen,
  limit: number,
): AsyncGenerator<ClosedProcesses> {
  let after = ["", ""];
  for (;;) {
    const { rows } = await pool.query<{ namespace: string; workflow_id: string; count: number }>(
      `select namespace, workflow_id, count(*)::int as count from trustflow.${rowsOf} and (namespace, workflow_id) > ($1, $2)
       group by namespace, workflow_id having max(${touchedAt}) < $3 order by 1, 2 limit $4`,
      [...after, olderThan, limit],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [last.namespace, last.workflow_id];
    const closed: typeof rows = [];
    for (const row of rows) if (!(await isOpen(row.namespace, row.workflow_id))) closed.push(row);
    yield {
      closed: [closed.map((row) => row.namespace), closed.map((row) => row.workflow_id)],
      rows: closed.reduce((sum, { count }) => sum + count, 0),
    };
  }
}
