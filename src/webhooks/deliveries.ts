// The deliveries to endpoints: a queue for the relay, and a log for operators.
import type { ProcessEvent } from "../contracts/process-event.js";
import type { Pool } from "../postgres/pool.js";
import { withoutNulls } from "../postgres/without-nulls.js";
import type { Posted } from "./post.js";

export const deliveryStates = ["waiting", "delivered", "failed"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export interface Due {
  id: string;
  endpoint: string;
  /** Failed attempts since it was first sent, or replayed. */
  tries: number;
  event: ProcessEvent | TestEvent;
}

/** Tells nothing of a process: `trustflow webhooks test` asks for it. */
export interface TestEvent {
  id: string;
  type: "webhook.test";
  timestamp: string;
  data: { endpoint: string };
}

export interface Attempt extends Posted {
  at: string;
  ms: number;
}

export interface Delivery {
  id: string;
  endpoint: string;
  state: DeliveryState;
  /** When it is sent next; absent once it is settled. */
  dueAt?: Date;
  event: Due["event"];
  attempts: Attempt[];
  createdAt: Date;
}

export interface Unsettled {
  endpoint: string;
  state: "waiting" | "retried" | "failed";
  count: number;
}

export interface DeliveryFilter {
  states?: readonly DeliveryState[];
  endpoint?: string;
  /** Only deliveries before this one. */
  before?: string;
  limit?: number;
}

const utc = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
/** The webhook's id, and all that its body says. */
const told = `case when d.event is null
  then jsonb_build_object('id', 'test_' || d.id, 'type', 'webhook.test', 'timestamp', ${utc("d.created_at")},
    'data', jsonb_build_object('endpoint', d.endpoint))
  else jsonb_build_object('id', e.id, 'type', e.type, 'timestamp', ${utc("e.happened_at")}, 'data', e.data) end`;
const deliveries =
  "trustflow.webhook_deliveries d left join trustflow.process_events e on e.id = d.event";
const columns = `d.id, d.endpoint, d.state, case when d.state = 'waiting' then d.due_at end as "dueAt", ${told} as event, d.attempts,
  d.created_at as "createdAt"`;

/** Those of one namespace. */
export class Deliveries {
  readonly #pool: Pool;
  readonly #namespace: string;

  constructor(pool: Pool, namespace: string) {
    this.#pool = pool;
    this.#namespace = namespace;
  }

  /**
   * Takes the longest due of an endpoint; tests first, because an operator waits for them. Who has not settled one by the end of the lease
   * has lost it to the next taker.
   */
  async take(claim: string, endpoint: string, limit: number, leaseMs: number): Promise<Due[]> {
    const { rows } = await this.#pool.query<Due>(
      `with due as (
         select id from trustflow.webhook_deliveries
         where namespace = $5 and endpoint = $2 and state = 'waiting' and due_at <= clock_timestamp()
         order by (event is null) desc, due_at limit $3 for update skip locked),
       taken as (
         update trustflow.webhook_deliveries set claim = $1, due_at = clock_timestamp() + $4 * interval '1 ms'
         where id in (select id from due) returning *)
       select d.id, d.endpoint, d.tries, ${told} as event
       from taken d left join trustflow.process_events e on e.id = d.event`,
      [claim, endpoint, limit, leaseMs, this.#namespace],
    );
    return rows;
  }

  /** `pauseMs`: until the next attempt; without one the delivery has failed. Nothing happens where the claim is lost. */
  async settle(
    claim: string,
    { id, tries }: Pick<Due, "id" | "tries">,
    attempt: Attempt,
    next: "delivered" | { pauseMs: number | undefined },
  ): Promise<void> {
    const pauseMs = next === "delivered" ? undefined : next.pauseMs;
    const state = next === "delivered" ? next : pauseMs === undefined ? "failed" : "waiting";
    await this.#pool.query(
      `update trustflow.webhook_deliveries set state = $3, tries = $4, claim = null, attempts = attempts || $5::jsonb,
         due_at = clock_timestamp() + coalesce($6::float8, 0) * interval '1 ms'
       where id = $1 and claim = $2`,
      [id, claim, state, tries, JSON.stringify([attempt]), pauseMs ?? null],
    );
  }

  /** The newest first. */
  async list({ states, endpoint, before, limit = 100 }: DeliveryFilter = {}): Promise<Delivery[]> {
    const { rows } = await this.#pool.query<Delivery>(
      `select ${columns} from ${deliveries}
       where ($1::text[] is null or d.state = any($1)) and ($2::text is null or d.endpoint = $2)
         and ($3::bigint is null or d.id < $3) and d.namespace = $5 order by d.id desc limit $4`,
      [states ?? null, endpoint ?? null, before ?? null, limit, this.#namespace],
    );
    return rows.map(withoutNulls);
  }

  async show(id: string): Promise<Delivery | undefined> {
    const { rows } = await this.#pool.query<Delivery>(
      `select ${columns} from ${deliveries} where d.id = $1 and d.namespace = $2`,
      [id, this.#namespace],
    );
    return rows[0] && withoutNulls(rows[0]);
  }

  /** Sends again, from the first attempt on, those of these that are settled: with the same webhook id. Returns which. */
  replay(ids: string[]): Promise<string[]> {
    return this.#replay("state <> 'waiting' and id = any($1)", ids);
  }

  replayFailed(endpoint: string): Promise<string[]> {
    return this.#replay("state = 'failed' and endpoint = $1", endpoint);
  }

  async #replay(which: string, value: unknown): Promise<string[]> {
    const { rows } = await this.#pool.query<{ id: string }>(
      `update trustflow.webhook_deliveries set state = 'waiting', tries = 0, due_at = clock_timestamp()
       where ${which} and namespace = $2 returning id`,
      [value, this.#namespace],
    );
    return rows.map(({ id }) => id);
  }

  /** Returns the id of the delivery. */
  async test(endpoint: string): Promise<string> {
    const { rows } = await this.#pool.query<{ id: string }>(
      "insert into trustflow.webhook_deliveries (namespace, endpoint) values ($1, $2) returning id",
      [this.#namespace, endpoint],
    );
    return rows[0]?.id ?? "";
  }

  /** How many wait, were not taken three times, and have failed, of each of these endpoints. */
  async unsettled(endpoints: string[]): Promise<Unsettled[]> {
    const { rows } = await this.#pool.query<Unsettled>({
      // Each reads its own index.
      text: (["waiting", "failed"] as const)
        .map(
          (state) =>
            `select endpoint, case when tries > 2 and state = 'waiting' then 'retried' else state end as state, count(*)::int as count
             from trustflow.webhook_deliveries
             where state = '${state}' and namespace = $1 and endpoint = any($2) group by 1, 2`,
        )
        .join(" union all "),
      values: [this.#namespace, endpoints],
      query_timeout: 2_000,
    } as { text: string });
    return rows;
  }
}

/** Every other delivery goes with its event. */
export async function purgeTests(pool: Pool, olderThan: Date): Promise<void> {
  await pool.query(
    "delete from trustflow.webhook_deliveries where event is null and created_at < $1",
    [olderThan],
  );
}
