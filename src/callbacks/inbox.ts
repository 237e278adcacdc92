// The inbox: one table that is queue, dedupe, delivery log and evidence in one (DESIGN §7). This is what the receiver and the
// relay do with it; what operators do is in archive.ts.
import type { KeyRing } from "../crypto/key-ring.js";
import { open, seal } from "../crypto/sealed.js";
import type { Pool } from "../postgres/pool.js";
import type { Subject } from "./address.js";

export const inboxChannel = "trustflow_callbacks";

export interface Arrival {
  address: string;
  /** Unique within the address. */
  identifier: string;
  subject: Subject;
  body: Buffer;
}

export interface ClaimedRow {
  id: string;
  address: string;
  identifier: string;
  provider: string;
  namespace: string;
  workflowId: string;
  attempts: number;
  size: number;
  sealedBody: Buffer;
}

/** Why a row is parked. */
export const parkReasons = [
  "correlationMismatch",
  "refusedByTemporal",
  "undecryptable",
  "unknownProcess",
  "unknownProvider",
  "unreadable",
] as const;
type ParkReason = (typeof parkReasons)[number];

/** What becomes of a row; `pause` gives it back to wait for that many milliseconds, and its process's other rows with it. */
export type Settlement =
  | { state: "delivered" | "late" | "kept" }
  | { state: "parked"; reason: ParkReason; detail?: string }
  | { state: "waiting"; pauseMs: number };

// A row by its address and identifier alone, so that the body cannot be moved to another one.
const context = (row: Pick<ClaimedRow, "address" | "identifier">): string =>
  `callback:${row.address}:${row.identifier}`;

// Relays claim one after another, so that no two of them see the same process free.
const CLAIM_LOCK = 7_318_200_402;
const DEADLOCK = "40P01";
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
        if ((error as { code?: unknown }).code !== DEADLOCK || tries === 3) throw error;
      }
    }
  }

  async #insert(arrivals: Arrival[], timeoutMs: number): Promise<number> {
    const { rows } = await this.#pool.query<{ fresh: number }>({
      name: "inbox-insert",
      text: `with fresh as (
          insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, size, body)
          select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::bytea[])
          on conflict (address, identifier) do nothing returning 1),
        told as (select pg_notify('${inboxChannel}', '') from fresh limit 1)
        select (select count(*) from fresh)::int as fresh, (select count(*) from told)`,
      values: [
        arrivals.map(({ address }) => address),
        arrivals.map(({ identifier }) => identifier),
        arrivals.map(({ subject }) => subject.provider),
        arrivals.map(({ subject }) => subject.namespace),
        arrivals.map(({ subject }) => subject.workflowId),
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
   * Takes the oldest waiting rows for `leaseMs`, none of a process that somebody else holds and none of a paused namespace.
   * One message of several statements: the lock first, so that the next sees what the relay before has committed. The
   * statistics of a queue are always stale; without the first setting the planner reads and sorts the whole backlog. A claim that
   * a crash of the server forgets is only claimed again.
   */
  async claim(claim: string, leaseMs: number, paused: string[] = []): Promise<ClaimedRow[]> {
    const except = paused.map((namespace) => quote(namespace)).join(", ");
    const results = (await this.#pool.query(`
      begin;
      set local enable_bitmapscan = off;
      set local synchronous_commit = off;
      select pg_advisory_xact_lock(${CLAIM_LOCK});
      with held as materialized (
        select distinct namespace, workflow_id from trustflow.callbacks
        where state = 'waiting' and claimed_until > statement_timestamp()),
      free as (
        select id, size from trustflow.callbacks
        where state = 'waiting' ${except && `and namespace not in (${except})`}
          and (namespace, workflow_id) not in (select namespace, workflow_id from held)
        order by id limit ${MAX_ROWS} for update skip locked),
      chosen as (
        select id, sum(size) over (order by id) - size as before from free)
      update trustflow.callbacks c
        set claim = ${quote(claim)}, claimed_until = clock_timestamp() + ${Math.round(leaseMs)} * interval '1 millisecond',
          attempts = attempts + 1
        from chosen where c.id = chosen.id and chosen.before < ${MAX_BYTES}
        returning c.id, c.address, c.identifier, c.provider, c.namespace, c.workflow_id as "workflowId", c.attempts, c.size,
          c.body as "sealedBody";
      commit;`)) as unknown as { command: string; rows: ClaimedRow[] }[];
    const rows = results.find(({ command }) => command === "UPDATE")?.rows ?? [];
    return rows.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }

  /** Writes what became of claimed rows; where the claim was lost meanwhile, nothing. */
  async settle(claim: string, ids: string[], settlement: Settlement): Promise<void> {
    const pauseMs = settlement.state === "waiting" ? settlement.pauseMs : 0;
    await this.#pool.query({
      name: "inbox-settle",
      text: `update trustflow.callbacks set state = $3, reason = $4, detail = $5, claim = null,
         claimed_until = case when $6 > 0 then clock_timestamp() + $6 * interval '1 millisecond' end,
         settled_at = case when $3 = 'waiting' then null else clock_timestamp() end
       where id = any($2::bigint[]) and claim = $1 and state = 'waiting'`,
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
export function isFull(rows: ClaimedRow[]): boolean {
  const bytes = rows.reduce((sum, { size }) => sum + size, 0);
  return rows.length >= MAX_ROWS || bytes >= MAX_BYTES;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
