// The inbox: one table that is queue, dedupe, delivery log and evidence in one (DESIGN §7). This is what the receiver and the
// relay do with it; what operators do is in archive.ts.
import { setTimeout as sleep } from "node:timers/promises";
import type { KeyRing } from "../crypto/key-ring.js";
import { open, seal } from "../crypto/sealed.js";
import type { Pool } from "../postgres/pool.js";
import type { Subject } from "./address.js";
import type { Claimed, ClaimedRow, Referred, Settlement, UnaddressedRow } from "./rows.js";

export const inboxChannel = "trustflow_callbacks";

export interface Arrival {
  address: string;
  /** Unique within the address. */
  identifier: string;
  subject: Subject;
  body: Buffer;
}

// A row by its address and identifier alone, so that the body cannot be moved to another one.
const context = (row: Pick<ClaimedRow, "address" | "identifier">): string =>
  `callback:${row.address}:${row.identifier}`;

// Relays claim one after another, so that no two of them see the same process free.
const CLAIM_LOCK = 7_318_200_402;
const DEADLOCK = "40P01";
const mostTries = 5;
const MAX_ROWS = 500;
const MAX_BYTES = 8_000_000;

export class Inbox {
  readonly #pool: Pool;
  readonly #ring: KeyRing;

  constructor(pool: Pool, ring: KeyRing) {
    this.#pool = pool;
    this.#ring = ring;
  }

  /** Stores what arrived together in one commit; returns how many were new. */
  async insert(arrivals: Arrival[], timeoutMs: number): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#insert(arrivals, timeoutMs);
      } catch (error) {
        // Somebody stores the same callbacks in another order; in theirs they are there soon.
        if ((error as { code?: unknown }).code !== DEADLOCK || tries === mostTries) throw error;
        // The other one gets the time to commit, or both would meet again.
        await sleep(tries * 50 * (0.5 + Math.random()));
      }
    }
  }

  async #insert(arrivals: Arrival[], timeoutMs: number): Promise<number> {
    const { rows } = await this.#pool.query<{ fresh: number }>({
      name: "inbox-insert",
      text: `with fresh as (
          insert into trustflow.callbacks
            (address, identifier, provider, account, namespace, workflow_id, size, body, state)
          select *, case when account is null then 'waiting' else 'unaddressed' end
          from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bytea[])
            as arrival (address, identifier, provider, account, namespace, workflow_id, size, body)
          on conflict (address, identifier) do nothing returning 1),
        told as (select pg_notify('${inboxChannel}', '') from fresh limit 1)
        select (select count(*) from fresh)::int as fresh, (select count(*) from told)`,
      values: [
        arrivals.map(({ address }) => address),
        arrivals.map(({ identifier }) => identifier),
        arrivals.map(({ subject }) => subject.provider),
        arrivals.map(({ subject }) => ("account" in subject ? subject.account : null)),
        arrivals.map(({ subject }) => ("account" in subject ? null : subject.namespace)),
        arrivals.map(({ subject }) => ("account" in subject ? null : subject.workflowId)),
        arrivals.map(({ body }) => body.length),
        arrivals.map((arrival) => seal(this.#ring, arrival.body, context(arrival))),
      ],
      query_timeout: timeoutMs,
    } as { text: string; values: unknown[] });
    return rows[0]?.fresh ?? 0;
  }

  /** Throws where the key is gone or the body was changed. */
  open(row: Pick<ClaimedRow, "address" | "identifier" | "sealedBody">): Buffer {
    return open(this.#ring, row.sealedBody, context(row));
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
