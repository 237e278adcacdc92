// Lets operators list, show and replay callbacks, and removes them in small deletes (docs/design.md §7, §8).
import type { Pool } from "../../postgres/pool.js";
import { withoutNulls } from "../../postgres/without-nulls.js";
import { BodyOpener } from "./rows.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { inboxChannel } from "./inbox.js";

/** `claimed`: a relay is delivering it. `unaddressed`: it came to an account's address, and its process is not known yet. */
export const callbackStates = [
  "unaddressed",
  "waiting",
  "claimed",
  "delivered",
  "parked",
  "late",
  "kept",
  "surplus",
] as const;
export type CallbackState = (typeof callbackStates)[number];

export interface CallbackSummary {
  id: string;
  identifier: string;
  provider: string;
  /** Present if it came to an account's address. */
  account?: string;
  /** Absent if its process was never found. */
  namespace?: string;
  workflowId?: string;
  state: CallbackState;
  reason?: string;
  detail?: string;
  attempts: number;
  size: number;
  receivedAt: Date;
  settledAt?: Date;
}

export interface CallbackFilter {
  namespace?: string;
  workflowId?: string;
  states?: CallbackState[];
  since?: Date;
  /** Rows with a smaller id than this one; the last id of a page gives the next. */
  before?: string;
  limit?: number;
}

/** A purge deletes the row of a parked callback only after its body. */
const purgeable = {
  bodies: "state in ('delivered', 'late', 'kept', 'surplus') and body is not null",
  parkedBodies: "state = 'parked' and body is not null",
  rows: "(state in ('delivered', 'late', 'kept', 'surplus') or (state = 'parked' and body is null))",
};

export interface PurgeOptions {
  olderThan: Date;
  /** Bodies only, so that a late duplicate is still known, or whole rows. */
  what: keyof typeof purgeable;
  isOpen(namespace: string, workflowId: string): Promise<boolean>;
  limit?: number;
  /** Only counts them. */
  dryRun?: boolean;
}

const stateOf = `case when claim is not null and claimed_until > clock_timestamp() and state in ('unaddressed', 'waiting')
  then 'claimed' else state end`;
const columns = `id, identifier, provider, account, namespace, workflow_id as "workflowId", ${stateOf} as state, reason, detail,
  attempts, size, received_at as "receivedAt", settled_at as "settledAt"`;

export class CallbackArchive {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Newest first. */
  async list(filter: CallbackFilter = {}): Promise<CallbackSummary[]> {
    const { rows } = await this.#pool.query<CallbackSummary>(
      `select ${columns} from trustflow.callbacks
       where ($1::text is null or namespace = $1) and ($2::text is null or workflow_id = $2)
         and ($3::text[] is null or ${stateOf} = any($3)) and ($4::bigint is null or id < $4)
         and ($5::timestamptz is null or received_at >= $5)
       order by id desc limit $6`,
      [
        filter.namespace ?? null,
        filter.workflowId ?? null,
        filter.states ?? null,
        filter.before ?? null,
        filter.since ?? null,
        filter.limit ?? 100,
      ],
    );
    return rows.map(withoutNulls);
  }

  /** Includes the raw body, if it is not deleted. Throws if the body cannot be decrypted. */
  async show(
    id: string,
    keys: KeyRing,
  ): Promise<(CallbackSummary & { body?: string }) | undefined> {
    const { rows } = await this.#pool.query<
      CallbackSummary & { address: string; sealed: Buffer | null }
    >(`select ${columns}, address, body as sealed from trustflow.callbacks where id = $1`, [id]);
    const [row] = rows;
    if (row === undefined) return undefined;
    const { address, sealed, ...summary } = row;
    const { identifier } = summary;
    const body =
      sealed && new BodyOpener(keys).open({ address, identifier, sealedBody: sealed }).toString();
    return { ...withoutNulls(summary), ...(body !== null && { body }) };
  }

  async counts(): Promise<Record<CallbackState, number>> {
    const { rows } = await this.#pool.query<{ state: CallbackState; count: number }>(
      `select ${stateOf} as state, count(*)::int as count from trustflow.callbacks group by 1`,
    );
    const counts = Object.fromEntries(callbackStates.map((state) => [state, 0]));
    for (const { state, count } of rows) counts[state] = count;
    return counts as Record<CallbackState, number>;
  }

  /** Makes parked, late and surplus rows wait for delivery again; returns the ids of these rows. */
  async replay(ids: string[]): Promise<string[]> {
    const { rows } = await this.#pool.query<{ id: string }>(
      `update trustflow.callbacks
       set state = case when workflow_id is null then 'unaddressed' else 'waiting' end, reason = null, detail = null,
         settled_at = null, claim = null, claimed_until = null, attempts = 0, failures = 0
       where id = any($1::bigint[]) and state in ('parked', 'late', 'surplus') and body is not null returning id`,
      [ids],
    );
    if (rows.length > 0) await this.#pool.query(`select pg_notify('${inboxChannel}', '')`);
    return rows.map(({ id }) => id);
  }

  /** Deletes rows that were settled before `olderThan`, a thousand at a time, and nothing of an open process. */
  async purge({
    olderThan,
    what,
    isOpen,
    limit = 1_000,
    dryRun = false,
  }: PurgeOptions): Promise<number> {
    const open = new Map<string, boolean>();
    let removed = 0;
    let after = "0";
    for (;;) {
      const { rows } = await this.#pool.query<{
        id: string;
        namespace: string | null;
        workflowId: string | null;
      }>(
        `select id, namespace, workflow_id as "workflowId" from trustflow.callbacks
         where ${purgeable[what]} and settled_at < $1 and id > $2 order by id limit $3`,
        [olderThan, after, limit],
      );
      const last = rows.at(-1);
      if (last === undefined) return removed;
      after = last.id;
      const ids: string[] = [];
      for (const { id, namespace, workflowId } of rows) {
        const workflow = `${namespace}/${workflowId}`;
        if (namespace !== null && workflowId !== null && !open.has(workflow))
          open.set(workflow, await isOpen(namespace, workflowId));
        if (open.get(workflow) !== true) ids.push(id);
      }
      if (dryRun) {
        removed += ids.length;
        continue;
      }
      const which = `where id = any($1::bigint[]) and ${purgeable[what]}`;
      const { rowCount } = await this.#pool.query(
        what === "rows"
          ? `delete from trustflow.callbacks ${which}`
          : `update trustflow.callbacks set body = null, reference = null ${which}`,
        [ids],
      );
      removed += rowCount ?? 0;
    }
  }

  /** Deletes the counters of addresses before `olderThan` that have no rows left. */
  async forgetAddresses(olderThan: Date): Promise<number> {
    const { rowCount } = await this.#pool.query(
      // Locks in the same order as a receiver, to avoid a deadlock.
      `delete from trustflow.callback_addresses where address in (
         select address from trustflow.callback_addresses q where counted_on < $1
           and not exists (select 1 from trustflow.callbacks c where c.address = q.address)
         order by address for update)`,
      [olderThan],
    );
    return rowCount ?? 0;
  }
}
