// The inbox: one table for queue, deduplication, delivery log and evidence (docs/design.md §7). This file has the relay's
// part; arrivals.ts has the receiver's, archive.ts the operators'.
import type { Pool } from "../../postgres/pool.js";
import { FAILURES_UNTIL_ALONE } from "./rows.js";
import type { Claimed, ClaimedRow, Referred, Settlement, UnaddressedRow } from "./rows.js";

/** Of an address: it has brought too much, and brought something today or yesterday. A flood that has ended is told of no more. */
export const isFlooded =
  "(surplus > 0 or refused > 0) and counted_on >= (clock_timestamp() at time zone 'UTC')::date - 1";

export const inboxChannel = "trustflow_callbacks";

// Relays claim one after another, so that no two of them find the same process free.
const CLAIM_LOCK = 7_318_200_402;
const MAX_ROWS = 500;
const MAX_BYTES = 8_000_000;

/** A process that has surplus callbacks. */
export interface Wake {
  address: string;
  namespace: string;
  workflowId: string;
  count: number;
  /** The database's instant, as it writes it. */
  claimedUntil: string;
}

export class Inbox {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Claims the oldest waiting rows for `leaseMs`, but none of a process that another relay has claimed, none of a paused
   * namespace, and none that is tried alone. The lock comes first, so that the next statement sees what the previous relay has
   * committed.
   */
  claim(claim: string, leaseMs: number, paused: string[] = []): Promise<ClaimedRow[]> {
    return this.#take(
      claim,
      leaseMs,
      `select pg_advisory_xact_lock(${CLAIM_LOCK});
      with held as materialized (
        select distinct namespace, workflow_id from trustflow.callbacks
        where state = 'waiting' and claimed_until > statement_timestamp() and failures < ${FAILURES_UNTIL_ALONE}),
      free as (
        select id, size from trustflow.callbacks
        where state = 'waiting' and failures < ${FAILURES_UNTIL_ALONE} ${except(paused)}
          and (namespace, workflow_id) not in (select namespace, workflow_id from held)
        order by id limit ${MAX_ROWS} for update skip locked)`,
    );
  }

  /** Claims due unaddressed rows, each separately. */
  claimUnaddressed(claim: string, leaseMs: number): Promise<UnaddressedRow[]> {
    return this.#take(
      claim,
      leaseMs,
      `with free as (
        select id, size from trustflow.callbacks
        where state = 'unaddressed' and failures < ${FAILURES_UNTIL_ALONE}
          and coalesce(claimed_until, '-infinity') <= statement_timestamp()
        order by coalesce(claimed_until, '-infinity'), id limit ${MAX_ROWS} for update skip locked)`,
    );
  }

  /** Claims one row that is tried alone, also of a process whose other rows are claimed: if it ends the relay, no other row is blamed. */
  async claimAlone(
    claim: string,
    leaseMs: number,
    paused: string[] = [],
  ): Promise<ClaimedRow | UnaddressedRow | undefined> {
    const [row] = await this.#take<ClaimedRow | UnaddressedRow>(
      claim,
      leaseMs,
      `with free as (
        select id, size from trustflow.callbacks
        where failures >= ${FAILURES_UNTIL_ALONE} and state in ('waiting', 'unaddressed')
          and coalesce(claimed_until, '-infinity') <= statement_timestamp() ${except(paused)}
        order by coalesce(claimed_until, '-infinity') limit 1 for update skip locked)`,
    );
    return row;
  }

  /**
   * One message of several statements. The statistics of a queue are always stale; without the first setting the planner reads
   * and sorts the whole backlog. A claim that a crash of the server forgets is only claimed again. A claim that nobody has ended is
   * that of another relay that died: the row may be the reason. Its own one a relay could not give back.
   */
  async #take<R extends Claimed>(claim: string, leaseMs: number, withFree: string): Promise<R[]> {
    const results = (await this.#pool.query(`
      begin;
      set local enable_bitmapscan = off;
      set local synchronous_commit = off;
      ${withFree},
      chosen as (
        select id, sum(size) over (order by id) - size as before from free)
      update trustflow.callbacks c
        set claim = ${quote(claim)}, claimed_until = clock_timestamp() + ${Math.round(leaseMs)} * interval '1 millisecond',
          attempts = attempts + (claim is distinct from ${quote(claim)})::int,
          failures = failures + coalesce((claim <> ${quote(claim)})::int, 0)
        from chosen where c.id = chosen.id and chosen.before < ${MAX_BYTES}
        returning c.id, c.address, c.identifier, c.provider, c.account, c.namespace, c.workflow_id as "workflowId",
          c.attempts, c.failures, c.size, c.received_at as "receivedAt", c.body as "sealedBody";
      commit;`)) as unknown as { command: string; rows: R[] }[];
    const rows = results.find(({ command }) => command === "UPDATE")?.rows ?? [];
    return rows.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }

  /**
   * Assigns claimed rows to the process of their reference. They then wait like any other row, or are `surplus` if the
   * process has received its number. Returns the rows whose reference is known. They are counted for the process under an address
   * that the receiver cannot name, so it cannot lock the count. Of the other rows the reference is noted, by which the erasure of their
   * process finds them.
   */
  async address(claim: string, referred: Referred[], toldOf: number): Promise<Set<string>> {
    const { rows } = await this.#pool.query<{ id: string }>({
      name: "inbox-address",
      text: `with found as (
          select c.id, c.size, k.namespace, k.workflow_id,
            'account:' || encode(sha256(convert_to('p:' || c.provider || ':' || k.namespace || '/' || k.workflow_id, 'UTF8')), 'hex') as own
          from unnest($2::bigint[], $3::text[]) as given (id, reference)
          join trustflow.callbacks c on c.id = given.id and c.claim = $1 and c.state = 'unaddressed'
          join trustflow.correlations k
            on k.provider = c.provider and k.account = c.account and k.reference = given.reference),
        sums as (
          select own, namespace, workflow_id, count(*)::int as rows, sum(size) as bytes
          from found group by 1, 2, 3 order by 1),
        counted as (
          insert into trustflow.callback_addresses as q
            (address, namespace, workflow_id, rows, bytes, surplus, wake_at)
          select own, namespace, workflow_id, rows, bytes, greatest(0, rows - $4),
            case when rows > $4 then clock_timestamp() end from sums
          on conflict (address) do update set rows = q.rows + excluded.rows, bytes = q.bytes + excluded.bytes,
            counted_on = excluded.counted_on, surplus = q.surplus + greatest(0, q.rows + excluded.rows - greatest(q.rows, $4)),
            wake_at = case when q.rows + excluded.rows > $4
              then trustflow.next_wake(q.wake_at, q.wakes, q.woken_at) else q.wake_at end
          returning address, q.rows),
        -- Once for all rows: the statistics are those of an empty queue, by which a plan would judge them anew for each row.
        judged as materialized (
          select f.*, c.rows - s.rows + row_number() over (partition by f.own order by f.id) > $4 as is_surplus
          from found f join sums s using (own) join counted c on c.address = f.own),
        noted as (
          update trustflow.callbacks c set reference = given.reference
          from unnest($2::bigint[], $3::text[]) as given (id, reference)
          where c.id = given.id and c.claim = $1 and c.state = 'unaddressed' and c.reference is null
            and not exists (select from found f where f.id = c.id))
        update trustflow.callbacks c set namespace = j.namespace, workflow_id = j.workflow_id,
          state = case when j.is_surplus then 'surplus' else 'waiting' end,
          settled_at = case when j.is_surplus then clock_timestamp() end,
          claim = null, claimed_until = null, attempts = 0, failures = 0, reference = null
        from judged j where c.id = j.id and c.claim = $1 and c.state = 'unaddressed'
        returning c.id`,
      values: [
        claim,
        referred.map(({ row }) => row.id),
        referred.map(({ reference }) => reference),
        toldOf,
      ],
    });
    return new Set(rows.map(({ id }) => id));
  }

  /** Claims the processes that are due for a notification of surplus callbacks. Without `woken`, each is due again in a minute. */
  async claimWakes(paused: string[] = []): Promise<Wake[]> {
    // Planned each time, because the plan for a small table would read a large one completely.
    const { rows } = await this.#pool.query<Wake>({
      text: `update trustflow.callback_addresses set wakes = wakes + 1, woken_at = clock_timestamp(),
         wake_at = clock_timestamp() + interval '1 minute'
       where address in (
         select address from trustflow.callback_addresses
         where wake_at <= clock_timestamp() and namespace <> all($1)
         order by wake_at limit 100 for update skip locked)
       returning address, namespace, workflow_id as "workflowId", surplus + refused as count, wake_at::text as "claimedUntil"`,
      values: [paused],
    });
    return rows;
  }

  /** Ends a claim: the process was told of `count`, and is told later of what has come meanwhile. */
  async woken({ address, count, claimedUntil }: Wake): Promise<void> {
    await this.#pool.query(
      `update trustflow.callback_addresses
       set wake_at = case when surplus + refused > $2 then trustflow.next_wake(null, wakes, woken_at) end
       where address = $1 and wake_at = $3::timestamptz`,
      [address, count, claimedUntil],
    );
  }

  /** Ends the claim of rows as if it had never been; they wait for `pauseMs`. A crash of the server only forgets that. */
  async giveBack(claim: string, ids: string[], pauseMs: number): Promise<void> {
    await this.#pool.query(
      `update trustflow.callbacks set claim = null, attempts = attempts - 1,
         claimed_until = clock_timestamp() + $3 * interval '1 millisecond'
       where id = any($2::bigint[]) and claim = $1 and state in ('waiting', 'unaddressed')`,
      [claim, ids, pauseMs],
    );
  }

  /** Writes the results of claimed rows; writes nothing for a row whose claim was lost. */
  async settle(claim: string, ids: string[], settlement: Settlement): Promise<void> {
    const isWaiting = settlement.state === "waiting";
    await this.#pool.query({
      name: "inbox-settle",
      text: `update trustflow.callbacks set state = case when $3 = 'waiting' then state else $3 end, reason = $4,
         detail = $5, claim = null,
         claimed_until = case when $6 > 0 then clock_timestamp() + $6 * interval '1 millisecond' end,
         failures = failures + $7,
         settled_at = case when $3 = 'waiting' then null else clock_timestamp() end
       where id = any($2::bigint[]) and claim = $1 and state in ('waiting', 'unaddressed')`,
      values: [
        claim,
        ids,
        settlement.state,
        settlement.state === "parked" ? settlement.reason : null,
        settlement.state === "parked" ? (settlement.detail ?? null) : null,
        isWaiting ? settlement.pauseMs : 0,
        isWaiting && settlement.isFailure ? 1 : 0,
      ],
    });
  }
}

/** Whether the claim reached its limit, so that there may be more rows. */
export function isFull(rows: Claimed[]): boolean {
  const bytes = rows.reduce((sum, { size }) => sum + size, 0);
  return rows.length >= MAX_ROWS || bytes >= MAX_BYTES;
}

function except(paused: string[]): string {
  const namespaces = paused.map((namespace) => quote(namespace)).join(", ");
  return namespaces && `and coalesce(namespace, '') not in (${namespaces})`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
