// The journal's table: every change is one compare-and-set statement on the database's clock, so no transaction is open
// while something is sent.
import type { ProcessKey } from "../crypto/data-key.js";
import type { Pool } from "../postgres/pool.js";
import type { Effect } from "./effect.js";
import { afterCleanEnd, isUncertainOnceTaken } from "./next-action.js";
import type { CleanEnd } from "./next-action.js";
import { columnsOf, ownersInsert } from "./ownership.js";
import { effectIn, states } from "./row.js";
import type { Row, State } from "./row.js";

/** The row that a sender is about to take; only its holder may write the result. */
export interface Take {
  token: string;
  holder: string;
  uncertain: boolean;
  isRepeatable?: boolean;
  /** The row before it was taken; absent if there was none. */
  before?: State;
}

/** A take that succeeded. */
export interface Hold extends Take {
  attempt: number;
  tokenGeneration: number;
}

export const rowColumns = `token, occurrence, state, digest, attempts, denied as "tokenGeneration", uncertain, absent,
  sealed_answer as answer, next_occurrence as "nextOccurrence", holder is not null as held,
  coalesce(extract(epoch from lease_until - clock_timestamp()) * 1000, 0)::float8 as "leaseLeft",
  coalesce(extract(epoch from clock_timestamp() - absent_at) * 1000, 0)::float8 as "absentFor"`;

const statesThatMayExist = states.filter((state) => effectIn[state] !== "none");
/** `mayExist` of row.ts in SQL; `row` is the alias of the table. */
export const mayExist = (row: string) =>
  `(${row}.state in (${statesThatMayExist.map((state) => `'${state}'`).join(", ")}) or ${row}.uncertain)`;

const lease = (parameter: string) => `clock_timestamp() + ${parameter} * interval '1 millisecond'`;
const leaseOver = "(lease_until is null or lease_until <= clock_timestamp())";

export class Rows {
  readonly #pool: Pool;
  readonly #leaseMs: number;

  constructor(pool: Pool, leaseMs: number) {
    this.#pool = pool;
    this.#leaseMs = leaseMs;
  }

  leaseOf({ leaseMs = 0 }: Pick<Effect, "leaseMs">): number {
    return Math.max(this.#leaseMs, leaseMs);
  }

  async find(token: string): Promise<Row | undefined> {
    const { rows } = await this.#pool.query<Row>(
      `select ${rowColumns} from trustflow.effects where token = $1`,
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
      `select ${rowColumns} from trustflow.effects where namespace = $1 and workflow_id = $2 and step = $3 order by seq`,
      [namespace, workflowId, step],
    );
    return rows;
  }

  /**
   * The row's first take: fails where there is a row already, and for a process that is erased. The owners of its
   * documents are written in any case, until its erasure has finished.
   */
  async takeNew(effect: Effect, holder: string): Promise<Hold | undefined> {
    const { documents = [] } = effect;
    const owns = documents.length > 0;
    const { rowCount } = await this.#pool.query({
      name: owns ? "effect-take-documents" : "effect-take",
      text: `${owns ? `with ${ownersInsert("$2", "$3", "$13", "$14")}` : ""}
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
        this.leaseOf(effect),
        holder,
        ...(owns ? columnsOf(documents) : []),
      ],
    });
    return rowCount === 1
      ? { ...takeOf(effect, undefined, holder), attempt: 1, tokenGeneration: 0 }
      : undefined;
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
    const take = takeOf(effect, row, holder);
    const { rows } = await this.#pool.query<Pick<Hold, "attempt" | "tokenGeneration">>(
      `update trustflow.effects e set state = 'sending', attempts = attempts + 1, uncertain = $12,
         absent = 0, absent_at = null, sealed_answer = null, denied = denied + $11::boolean::int, provider = $4, operation = $5, account = $6, effect_class = $7,
         digest = $8, lease_until = ${lease("$9")}, holder = $10, updated_at = clock_timestamp()
       where token = $1 and state = $2 and attempts = $3 and next_occurrence is null and ${leaseOver}
         and not ($11 and exists (select 1 from trustflow.effects o where o.namespace = e.namespace
           and o.workflow_id = e.workflow_id and ${mayExist("o")}))
         and not exists (select 1 from trustflow.erasures d where d.namespace = e.namespace and d.workflow_id = e.workflow_id)
       returning attempts as attempt, denied as "tokenGeneration"`,
      [
        row.token,
        row.state,
        row.attempts,
        effect.provider,
        effect.operation,
        effect.account,
        effect.effectClass,
        effect.digest,
        this.leaseOf(effect),
        holder,
        newInput,
        take.uncertain,
      ],
    );
    return rows[0] && { ...take, ...rows[0] };
  }

  /** Whether the erasure of the process has begun: no effect of it is taken any more. */
  async isErased({ namespace, workflowId }: Effect): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      "select 1 from trustflow.erasures where namespace = $1 and workflow_id = $2 limit 1",
      [namespace, workflowId],
    );
    return rowCount === 1;
  }

  /** Whether something of this process exists or may exist; `account`: at this account. A row of a decision has none. */
  async anyExists({ namespace, workflowId }: ProcessKey, account?: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `select 1 from trustflow.effects e where namespace = $1 and workflow_id = $2 and ${mayExist("e")}
         and ($3::text is null or coalesce(account, $3) = $3) limit 1`,
      [namespace, workflowId, account],
    );
    return rowCount === 1;
  }

  /** Whether a callback has come to the process's own address. One with the correlation value of another process says nothing. */
  async isReported({ namespace, workflowId }: ProcessKey): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `select 1 from trustflow.callbacks where namespace = $1 and workflow_id = $2 and account is null
         and reason is distinct from 'correlationMismatch' limit 1`,
      [namespace, workflowId],
    );
    return rowCount === 1;
  }

  /** Stores an answer; every writer's answer counts, however late, and the first one stays. */
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

  /**
   * Starts the retention of the row again; false where the row has just been removed, or its process is erased. A row that a person's
   * decision has made gets what every other row has from its take.
   */
  async renew(effect: Effect, token: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      name: "effect-renew",
      text: `update trustflow.effects e set updated_at = clock_timestamp(), provider = coalesce(provider, $2),
         operation = coalesce(operation, $3), account = coalesce(account, $4), effect_class = coalesce(effect_class, $5),
         digest = coalesce(digest, $6)
       where token = $1
         and not exists (select 1 from trustflow.erasures d where d.namespace = e.namespace and d.workflow_id = e.workflow_id)`,
      values: [
        token,
        effect.provider,
        effect.operation,
        effect.account,
        effect.effectClass,
        effect.digest,
      ],
    });
    return rowCount === 1;
  }

  /** Writes what a clean end makes of the row; false where it is not a refusal that counts. */
  async end(take: Take, end: CleanEnd, refusal?: Buffer): Promise<boolean> {
    const { state, renewsToken, uncertain } = afterCleanEnd(end, take);
    const { rowCount } = await this.#pool.query(
      `update trustflow.effects set state = $3, absent = $4::boolean::int,
         absent_at = case when $4 then clock_timestamp() end, sealed_answer = $5,
         denied = denied + $6::boolean::int, uncertain = $7, lease_until = null, holder = null, updated_at = clock_timestamp()
       where token = $1 and holder = $2 and state = 'sending'`,
      [
        take.token,
        take.holder,
        state,
        state === "sending",
        refusal ?? null,
        renewsToken,
        uncertain,
      ],
    );
    return rowCount === 1 && state === "refused";
  }

  /** Makes the stored refusal final, because the look-up after it found nothing. */
  async settleRefusal(row: Row): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `update trustflow.effects set state = 'refused', uncertain = false, updated_at = clock_timestamp()
       where token = $1 and attempts = $2 and state = 'sending' and holder is null and sealed_answer is not null`,
      [row.token, row.attempts],
    );
    return rowCount === 1;
  }

  /**
   * Notes that our own call ended without an answer. The next attempt may look up at once, but the provider may still work on the
   * call until the lease is over.
   */
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

export function takeOf(
  effect: Pick<Effect, "token" | "effectClass">,
  row: Row | undefined,
  holder: string,
): Take {
  if (row === undefined) return { token: effect.token, holder, uncertain: false };
  const isRepeatable = effect.effectClass === "repeatable";
  const uncertain = isUncertainOnceTaken(row);
  return { token: row.token, holder, uncertain, isRepeatable, before: row.state };
}
