// The journal's table: every change is one compare-and-set statement on the database's clock, so no transaction is open
// while something is sent.
import type { Pool } from "../postgres/pool.js";
import type { Effect } from "./effect.js";
import { columnsOf, owning } from "./ownership.js";

export type State = "sending" | "answered" | "refused" | "notSent" | "withdrawn";

export interface Row {
  token: string;
  occurrence: string;
  state: State;
  digest: string | null;
  attempts: number;
  denied: number;
  /** An earlier attempt may have reached the provider. */
  uncertain: boolean;
  absent: number;
  /** A sender is at it, or was killed; false once its own call has ended. */
  held: boolean;
  /** Milliseconds until the lease is over; 0 or less: it is. */
  leaseLeft: number;
  /** Milliseconds since the look-up that found nothing. */
  absentFor: number;
  /** The answer or the refusal; while `sending`, a refusal that does not count yet. */
  answer: Buffer | null;
  nextOccurrence: string | null;
}

/** A take that succeeded: only its holder may write what became of it. */
export interface Hold {
  token: string;
  holder: string;
  attempt: number;
  denied: number;
  /** What the row was before the take; absent where there was none. */
  before?: State;
}

const columns = `token, occurrence, state, digest, attempts, denied, uncertain, absent, sealed_answer as answer,
  next_occurrence as "nextOccurrence", holder is not null as held,
  coalesce(extract(epoch from lease_until - clock_timestamp()) * 1000, 0)::float8 as "leaseLeft",
  coalesce(extract(epoch from clock_timestamp() - absent_at) * 1000, 0)::float8 as "absentFor"`;

const lease = (parameter: string) => `clock_timestamp() + ${parameter} * interval '1 millisecond'`;
const leaseOver = "(lease_until is null or lease_until <= clock_timestamp())";

export class Rows {
  readonly #pool: Pool;
  readonly #leaseMs: number;

  constructor(pool: Pool, leaseMs: number) {
    this.#pool = pool;
    this.#leaseMs = leaseMs;
  }

  async find(token: string): Promise<Row | undefined> {
    const { rows } = await this.#pool.query<Row>(
      `select ${columns} from trustflow.effects where token = $1`,
      [token],
    );
    return rows[0];
  }

  /** All rows of the effect's step, in the order they were made. */
  async ofStep({
    namespace,
    workflowId,
    step,
  }: Pick<Effect, "namespace" | "workflowId" | "step">): Promise<Row[]> {
    const { rows } = await this.#pool.query<Row>(
      `select ${columns} from trustflow.effects where namespace = $1 and workflow_id = $2 and step = $3 order by seq`,
      [namespace, workflowId, step],
    );
    return rows;
  }

  /**
   * The row's first take: fails where there is a row already, and for a process that is erased. The owners of its
   * documents are written in any case.
   */
  async takeNew(effect: Effect, holder: string): Promise<Hold | undefined> {
    const { documents = [] } = effect;
    const owns = documents.length > 0;
    const { rowCount } = await this.#pool.query({
      name: owns ? "effect-take-documents" : "effect-take",
      text: `${owns ? `with ${owning("$2", "$3", "$13", "$14")}` : ""}
       insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, provider, operation, account,
         effect_class, digest, state, attempts, lease_until, holder)
       select $1::uuid, $2::text, $3::text, $4, $5, $6, $7, $8, $9, $10, 'sending', 1, ${lease("$11")}, $12::uuid
       where not exists (select 1 from trustflow.erasures where namespace = $2 and workflow_id = $3)
       on conflict do nothing`,
      values: [
        effect.token,
        effect.namespace,
        effect.workflowId,
        effect.step,
        effect.occurrence,
        effect.provider,
        effect.operation,
        effect.account,
        effect.effectClass,
        effect.digest,
        this.#leaseMs,
        holder,
        ...(owns ? columnsOf(documents) : []),
      ],
    });
    return rowCount === 1 ? { token: effect.token, holder, attempt: 1, denied: 0 } : undefined;
  }

  /**
   * Takes a row exactly as it was read, its lease being over, and its process not erased; with another input only while
   * nothing of the process may exist.
   */
  async takeAgain(
    effect: Effect,
    row: Row,
    holder: string,
    newInput: boolean,
  ): Promise<Hold | undefined> {
    const { rows } = await this.#pool.query<{ attempts: number; denied: number }>(
      `update trustflow.effects e set state = 'sending', attempts = attempts + 1,
         uncertain = $7 <> 'repeatable' and (uncertain or state = 'sending'),
         absent = 0, absent_at = null, sealed_answer = null, denied = denied + $11::boolean::int, provider = $4, operation = $5, account = $6, effect_class = $7,
         digest = $8, lease_until = ${lease("$9")}, holder = $10, updated_at = clock_timestamp()
       where token = $1 and state = $2 and attempts = $3 and next_occurrence is null and ${leaseOver}
         and not ($11 and exists (select 1 from trustflow.effects o where o.namespace = e.namespace
           and o.workflow_id = e.workflow_id and (o.state in ('sending', 'answered') or o.uncertain)))
         and not exists (select 1 from trustflow.erasures d where d.namespace = e.namespace and d.workflow_id = e.workflow_id)
       returning attempts, denied`,
      [
        row.token,
        row.state,
        row.attempts,
        effect.provider,
        effect.operation,
        effect.account,
        effect.effectClass,
        effect.digest,
        this.#leaseMs,
        holder,
        newInput,
      ],
    );
    const [taken] = rows;
    const { attempts: attempt = 0, denied = 0 } = taken ?? {};
    return taken && { token: row.token, holder, attempt, denied, before: row.state };
  }

  /** Its erasure has begun: no effect of it is taken any more. */
  async isErased({ namespace, workflowId }: Effect): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      "select 1 from trustflow.erasures where namespace = $1 and workflow_id = $2 limit 1",
      [namespace, workflowId],
    );
    return rowCount === 1;
  }

  /** Whether something of this process exists or may exist. */
  async anyExists(effect: Effect): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `select 1 from trustflow.effects where namespace = $1 and workflow_id = $2
         and (state in ('sending', 'answered') or uncertain) limit 1`,
      [effect.namespace, effect.workflowId],
    );
    return rowCount === 1;
  }

  /** An answer is the truth whoever brings it and however late; the first one stands. */
  async answer(token: string, sealed: Buffer): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      name: "effect-answer",
      text: `update trustflow.effects set state = 'answered', sealed_answer = $2, lease_until = null, holder = null,
         updated_at = clock_timestamp()
       where token = $1 and state <> 'answered'`,
      values: [token, sealed],
    });
    return rowCount === 1;
  }

  /** A run uses the answer; false where the row has just gone. */
  async renew(token: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      name: "effect-renew",
      text: `update trustflow.effects set updated_at = clock_timestamp() where token = $1`,
      values: [token],
    });
    return rowCount === 1;
  }

  /** Whether it counts: after an uncertain attempt it waits for one more look-up, since that one may exist. */
  async refuse({ token, holder }: Hold, sealed: Buffer): Promise<boolean> {
    const { rows } = await this.#pool.query<{ state: State }>(
      `update trustflow.effects set state = case when uncertain then 'sending' else 'refused' end,
         absent = uncertain::int, absent_at = case when uncertain then clock_timestamp() end, sealed_answer = $3,
         lease_until = null, holder = null, updated_at = clock_timestamp()
       where token = $1 and holder = $2 and state = 'sending'
       returning state`,
      [token, holder, sealed],
    );
    return rows[0]?.state === "refused";
  }

  /** The refusal that waited in the row counts: the look-up after it was empty too. */
  async settleRefusal(row: Row): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `update trustflow.effects set state = 'refused', uncertain = false, updated_at = clock_timestamp()
       where token = $1 and attempts = $2 and state = 'sending' and holder is null and sealed_answer is not null`,
      [row.token, row.attempts],
    );
    return rowCount === 1;
  }

  /**
   * This attempt did nothing. After an uncertain one before it, that still has to be looked up before the next send, unless a
   * person has decided to send again: then that still holds, and a denial renews no token, because the uncertain one went under it.
   */
  async notSent(
    { token, holder, before }: Pick<Hold, "token" | "holder" | "before">,
    renewToken: boolean,
  ): Promise<void> {
    await this.#pool.query(
      `update trustflow.effects set state = case when uncertain and not $4 then 'sending' else 'notSent' end,
         absent = (uncertain and not $4)::int, absent_at = case when uncertain and not $4 then clock_timestamp() end,
         denied = denied + case when uncertain and $4 then 0 else $3 end, lease_until = null, holder = null,
         updated_at = clock_timestamp()
       where token = $1 and holder = $2 and state = 'sending'`,
      [token, holder, renewToken ? 1 : 0, before === "notSent"],
    );
  }

  /** Our own call is over without an answer: whoever comes next may look, but the provider may work on it as long as the lease. */
  async noAnswer({ token, holder }: Hold): Promise<void> {
    await this.#pool.query(
      `update trustflow.effects set holder = null, updated_at = clock_timestamp()
       where token = $1 and holder = $2 and state = 'sending'`,
      [token, holder],
    );
  }

  async absent(row: Row): Promise<void> {
    await this.#pool.query(
      `update trustflow.effects set absent = 1, absent_at = clock_timestamp(), updated_at = clock_timestamp()
       where token = $1 and attempts = $2 and state = 'sending' and absent = 0 and (holder is null or ${leaseOver})`,
      [row.token, row.attempts],
    );
  }
}
