// Records each erasure: who, when, and counts by kind. Each part of an erasure changes its rows and the record in one commit, so that a
// crash neither loses nor doubles a count.
import type { ProcessKey } from "../crypto/data-key.js";
import { transaction } from "../postgres/pool.js";
import { withoutNulls } from "../postgres/without-nulls.js";
import type { Pool, PoolClient } from "../postgres/pool.js";

/** Made with an operator's key over the process, `by`, and the update `erase` with an empty id (docs/design.md §6). */
export interface ErasureProof {
  operator: string;
  at: string;
  value: string;
}

export interface Erasure {
  id: string;
  namespace: string;
  workflowId: string;
  by: string;
  proof?: ErasureProof;
  begunAt: Date;
  /** Absent while the erasure is in progress. */
  finishedAt?: Date;
  /** Counts by kind. */
  documents: Record<string, number>;
  callbacks: number;
  effects: number;
  runs: number;
}

const columns = `id, namespace, workflow_id as "workflowId", erased_by as by, proof, begun_at as "begunAt", finished_at as "finishedAt",
  documents, callbacks, effects, runs`;
const ofProcess = "namespace = $1 and workflow_id = $2";

/** The newest first. */
export async function erasuresOf(
  pool: Pool,
  { namespace, workflowId }: Partial<ProcessKey>,
): Promise<Erasure[]> {
  const { rows } = await pool.query<Erasure>(
    `select ${columns} from trustflow.erasures
     where ($1::text is null or namespace = $1) and ($2::text is null or workflow_id = $2) order by id desc`,
    [namespace ?? null, workflowId ?? null],
  );
  return rows.map(withoutNulls);
}

/** The erasure in progress, or a new one. From its commit on, no effect of the process is sent. */
export async function beginErasure(
  pool: Pool,
  processKey: ProcessKey,
  by: string,
  proof?: ErasureProof,
): Promise<Erasure> {
  const { namespace, workflowId } = processKey;
  await pool.query(
    `insert into trustflow.erasures (namespace, workflow_id, erased_by, proof) values ($1, $2, $3, $4)
     on conflict (namespace, workflow_id) where finished_at is null do nothing`,
    [namespace, workflowId, by, proof ?? null],
  );
  const [erasure] = await erasuresOf(pool, processKey);
  if (!erasure) throw recordGone();
  return erasure;
}

/** The erasure erased nothing, because the process was started again at the same moment. */
export async function abandonErasure(pool: Pool, { id }: Erasure): Promise<void> {
  await pool.query(
    `delete from trustflow.erasures where id = $1 and finished_at is null and documents = '{}'
       and callbacks = 0 and effects = 0 and runs = 0`,
    [id],
  );
}

/** Owner rows that an attempt has written meanwhile go with it: from then on the process becomes no owner. */
export async function finishErasure(
  pool: Pool,
  { id, namespace, workflowId }: Erasure,
): Promise<void> {
  await pool.query(
    `with late as (delete from trustflow.documents where ${ofProcess})
     update trustflow.erasures set finished_at = clock_timestamp() where id = $3`,
    [namespace, workflowId, id],
  );
}

/** Raises the count of runs to at least this number. Throws where another one who has begun it too has abandoned it. */
export async function recordRuns(pool: Pool, { id }: Erasure, runs: number): Promise<void> {
  const { rowCount } = await pool.query(
    "update trustflow.erasures set runs = greatest(runs, $2) where id = $1",
    [id, runs],
  );
  if (rowCount === 0) throw recordGone();
}

const recordGone = () => new Error("the record of the erasure is gone: run the command again");

/** Counts one deleted document, in the transaction that deletes its owner's row. */
export async function recordDocument(
  client: PoolClient,
  { id }: Erasure,
  kind: string,
): Promise<void> {
  await client.query(
    `update trustflow.erasures set documents = documents ||
       jsonb_build_object($2::text, coalesce((documents ->> $2)::int, 0) + 1) where id = $1`,
    [id, kind],
  );
}

/** The row still has the body, or says which notice it was about. */
const saysMore = "(body is not null or evidence_id is not null)";
const saysNothing =
  "body = null, evidence_id = null, kind = null, event_date = null, detail = null, reference = null";
/** With a reference of the process that was not known yet. An index finds them. */
const unmatchedIn = (state: "parked" | "unaddressed") => `
  select c.id, c.body, c.evidence_id from trustflow.correlations k
  join trustflow.callbacks c on (c.provider, c.account, c.reference) = (k.provider, k.account, k.reference)
  where k.namespace = $1 and k.workflow_id = $2 and c.workflow_id is null and c.state = '${state}'`;
/** The relay has not read yet what a worker has found for the token of the callback. */
const judged = `
  select c.id, c.body, c.evidence_id from trustflow.correlations k
  join trustflow.unaddressed_tokens t on (t.provider, t.account, t.reference) = (k.provider, k.account, k.reference)
  join trustflow.callbacks c on c.id = t.callback
  where k.namespace = $1 and k.workflow_id = $2 and c.workflow_id is null and c.state = 'unaddressed' and c.reference is null`;
const itsCallbacks = `(
  select id, body, evidence_id from trustflow.callbacks where ${ofProcess}
  union all ${unmatchedIn("parked")} union all ${unmatchedIn("unaddressed")} union all ${judged}) as own`;
/** A batch may have millions of callbacks, so they are emptied in small updates. */
const CALLBACKS = 10_000;

/**
 * Deletes the bodies. The rows stay, so that a late duplicate restores none. Waiting callbacks are not delivered any more. It comes before
 * the references of the process go.
 */
export async function eraseCallbacks(pool: Pool, erasure: Erasure): Promise<void> {
  for (let gone = CALLBACKS; gone === CALLBACKS;) {
    const { rows } = await pool.query<{ gone: number }>(
      `with gone as (
         update trustflow.callbacks set ${saysNothing}, claim = null, claimed_until = null,
           state = case when workflow_id is null then 'parked' when state in ('waiting', 'unaddressed') then 'late' else state end,
           reason = case when workflow_id is null then 'unmatched' else reason end,
           settled_at = coalesce(settled_at, clock_timestamp())
         where id in (select id from ${itsCallbacks} where ${saysMore} limit ${CALLBACKS})
         returning 1)
       update trustflow.erasures set callbacks = callbacks + (select count(*) from gone) where id = $3
       returning (select count(*)::int from gone) as gone`,
      [erasure.namespace, erasure.workflowId, erasure.id],
    );
    gone = rows[0]?.gone ?? 0;
  }
}

/**
 * Deletes the bodies of callbacks that came after the erasure of their process, which are not delivered, with the secrets that they
 * carried, events that were found while it was erased, and owner rows and references that an attempt which outlived it has noted. Returns
 * how many bodies.
 */
export async function eraseLateCallbacks(pool: Pool, dryRun: boolean): Promise<number> {
  const isErased = `exists (select 1 from trustflow.erasures e
    where e.namespace = c.namespace and e.workflow_id = c.workflow_id and e.finished_at is not null)`;
  const late = `body is not null and ${isErased}`;
  if (!dryRun)
    for (const table of ["event_secrets", "process_events", "correlations", "documents"])
      await pool.query(`delete from trustflow.${table} c where ${isErased}`);
  const { rowCount } = await pool.query(
    dryRun
      ? `select 1 from trustflow.callbacks c where ${late}`
      : `update trustflow.callbacks c set ${saysNothing}, reason = null, state = 'late', claim = null,
           claimed_until = null, settled_at = coalesce(settled_at, clock_timestamp()) where ${late}`,
  );
  return rowCount ?? 0;
}

/**
 * Deletes answers, decisions and digests. The rows stay with their tokens and states, which record what was sent. Samples of
 * look-ups that may be items of this process are deleted too; the next items replace them.
 */
export async function eraseEffects(pool: Pool, erasure: Erasure): Promise<void> {
  const { namespace, workflowId, id } = erasure;
  await transaction(pool, async (client) => {
    await client.query(
      `update trustflow.look_up_proofs p set sample = null, next_look_at = null where sample is not null and exists (
         select 1 from trustflow.effects e where e.namespace = $1 and e.workflow_id = $2
           and e.provider = p.provider and e.account = p.account and e.operation = p.operation)`,
      [namespace, workflowId],
    );
    // The deliveries of an event go with it.
    for (const table of ["correlations", "event_secrets", "process_events"])
      await client.query(`delete from trustflow.${table} where ${ofProcess}`, [
        namespace,
        workflowId,
      ]);
    await client.query(
      `with gone as (
         update trustflow.effects set sealed_answer = null, sealed_decisions = null, digest = null
         where ${ofProcess} and (sealed_answer is not null or sealed_decisions is not null or digest is not null)
         returning 1)
       update trustflow.erasures set effects = effects + (select count(*) from gone) where id = $3`,
      [namespace, workflowId, id],
    );
  });
}

export async function findErasable(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
): Promise<{ documents: { id: string; kind: string }[]; callbacks: number; effects: number }> {
  const { rows: documents } = await pool.query<{ id: string; kind: string }>(
    `select id, kind from trustflow.documents where ${ofProcess} order by owned_at, id`,
    [namespace, workflowId],
  );
  const { rows } = await pool.query<{ callbacks: number; effects: number }>(
    `select (select count(*)::int from ${itsCallbacks} where ${saysMore}) as callbacks,
       (select count(*)::int from trustflow.effects where ${ofProcess}
          and (sealed_answer is not null or sealed_decisions is not null or digest is not null)) as effects`,
    [namespace, workflowId],
  );
  return { documents, callbacks: rows[0]?.callbacks ?? 0, effects: rows[0]?.effects ?? 0 };
}

/** The operations that were sent to the provider, as far as the journal knows. */
export interface ProviderEffects {
  provider: string;
  account: string;
  operation: string;
  /** `maybe`: there was no answer. */
  exists: "yes" | "maybe";
  count: number;
}

export async function effectsAtProvider(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
): Promise<ProviderEffects[]> {
  const { rows } = await pool.query<ProviderEffects>(
    `select provider, account, operation, case when state = 'answered' then 'yes' else 'maybe' end as exists, count(*)::int
     from trustflow.effects where ${ofProcess} and provider is not null
       and (state in ('answered', 'sending') or uncertain)
     group by 1, 2, 3, 4 order by min(seq)`,
    [namespace, workflowId],
  );
  return rows;
}
