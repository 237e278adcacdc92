// The inbox: one table that is queue, dedupe, delivery log and evidence in one (DESIGN §7). This is what the relay does with
// it; the receiver's part is in arrivals.ts, that of operators in archive.ts.
import type { Pool } from "../postgres/pool.js";
import { BodyOpener } from "./body-keys.js";
import type { BodyKeys } from "./body-keys.js";
import type { Claimed, ClaimedRow, Referred, Settlement, UnaddressedRow } from "./rows.js";

export const inboxChannel = "trustflow_callbacks";

// Relays claim one after another, so that no two of them see the same process free.
const CLAIM_LOCK = 7_318_200_402;
const MAX_ROWS = 500;
const MAX_BYTES = 8_000_000;

export class Inbox {
  readonly #pool: Pool;
  readonly #opener: BodyOpener;

  constructor(pool: Pool, keys: BodyKeys) {
    this.#pool = pool;
    this.#opener = new BodyOpener(keys);
  }

  /** Throws where the key is gone or the body was changed. */
  open(row: Pick<Claimed, "address" | "identifier" | "sealedBody">): Buffer {
    return this.#opener.open(row);
  }

  /**
   * Takes the oldest waiting rows for `leaseMs`, none of a process that somebody else holds and none of a paused namespace; the
   * lock first, so that the next statement sees what the relay before has committed.
   */
  claim(claim: string, leaseMs: number, paused: string[] = []): Promise<ClaimedRow[]> {
    const except = paused.map((namespace) => quote(namespace)).join(", ");
    return this.#take(
      claim,
      leaseMs,
      `select pg_advisory_xact_lock(${CLAIM_LOCK});
      with held as materialized (
        select distinct namespace, workflow_id from trustflow.callbacks
        where state = 'waiting' and claimed_until > statement_timestamp()),
      free as (
        select id, size from trustflow.callbacks
        where state = 'waiting' ${except && `and namespace not in (${except})`}
          and (namespace, workflow_id) not in (select namespace, workflow_id from held)
        order by id limit ${MAX_ROWS} for update skip locked)`,
    );
  }

  /** Takes unaddressed rows that are due, each for itself. */
  claimUnaddressed(claim: string, leaseMs: number): Promise<UnaddressedRow[]> {
    return this.#take(
      claim,
      leaseMs,
      `with free as (
        select id, size from trustflow.callbacks
        where state = 'unaddressed' and coalesce(claimed_until, '-infinity') <= statement_timestamp()
        order by coalesce(claimed_until, '-infinity'), id limit ${MAX_ROWS} for update skip locked)`,
    );
  }

  /**
   * One message of several statements. The statistics of a queue are always stale; without the first setting the planner reads
   * and sorts the whole backlog. A claim that a crash of the server forgets is only claimed again.
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
          attempts = attempts + 1
        from chosen where c.id = chosen.id and chosen.before < ${MAX_BYTES}
        returning c.id, c.address, c.identifier, c.provider, c.account, c.namespace, c.workflow_id as "workflowId",
          c.attempts, c.size, c.received_at as "receivedAt", c.body as "sealedBody";
      commit;`)) as unknown as { command: string; rows: R[] }[];
    const rows = results.find(({ command }) => command === "UPDATE")?.rows ?? [];
    return rows.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }

  /** Gives claimed rows the process of their reference, to wait for it as any other; returns those whose reference is known. */
  async address(claim: string, referred: Referred[]): Promise<Set<string>> {
    const { rows } = await this.#pool.query<{ id: string }>({
      name: "inbox-address",
      text: `update trustflow.callbacks c set namespace = k.namespace, workflow_id = k.workflow_id, state = 'waiting',
         claim = null, claimed_until = null, attempts = 0
       from unnest($2::bigint[], $3::text[]) as given (id, reference), trustflow.correlations k
       where c.id = given.id and c.claim = $1 and c.state = 'unaddressed'
         and k.provider = c.provider and k.account = c.account and k.reference = given.reference
       returning c.id`,
      values: [
        claim,
        referred.map(({ row }) => row.id),
        referred.map(({ reference }) => reference),
      ],
    });
    return new Set(rows.map(({ id }) => id));
  }

  /** Writes what became of claimed rows; where the claim was lost meanwhile, nothing. */
  async settle(claim: string, ids: string[], settlement: Settlement): Promise<void> {
    const pauseMs = settlement.state === "waiting" ? settlement.pauseMs : 0;
    await this.#pool.query({
      name: "inbox-settle",
      text: `update trustflow.callbacks set state = case when $3 = 'waiting' then state else $3 end, reason = $4,
         detail = $5, claim = null,
         claimed_until = case when $6 > 0 then clock_timestamp() + $6 * interval '1 millisecond' end,
         settled_at = case when $3 = 'waiting' then null else clock_timestamp() end
       where id = any($2::bigint[]) and claim = $1 and state in ('waiting', 'unaddressed')`,
      values: [
        claim,
        ids,
        settlement.state,
        settlement.state === "parked" ? settlement.reason : null,
        settlement.state === "parked" ? (settlement.detail ?? null) : null,
        pauseMs,
      ],
    });
  }
}

/** Whether a claim took as much as one takes, so that there may be more. */
export function isFull(rows: Claimed[]): boolean {
  const bytes = rows.reduce((sum, { size }) => sum + size, 0);
  return rows.length >= MAX_ROWS || bytes >= MAX_BYTES;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
