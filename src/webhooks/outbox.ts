// The events that were found, and with each, in the same commit, a delivery for every endpoint that wants it.
import type { ProcessEvent, ProcessEventType } from "../contracts/process-event.js";
import { workflowIdOf } from "../contracts/shared/names.js";
import type { Pool } from "../postgres/pool.js";

export class Outbox {
  readonly #pool: Pool;
  readonly #namespace: string;

  constructor(pool: Pool, namespace: string) {
    this.#pool = pool;
    this.#namespace = namespace;
  }

  /** Where the looks have come to; they begin now where there was none before. */
  async position(): Promise<{ position: Date; floor: Date }> {
    await this.#pool.query(
      `insert into trustflow.event_positions (namespace, began_at, position)
       select $1, began, began from clock_timestamp() as began on conflict do nothing`,
      [this.#namespace],
    );
    const { rows } = await this.#pool.query<{ position: Date; floor: Date }>(
      "select position, began_at as floor from trustflow.event_positions where namespace = $1",
      [this.#namespace],
    );
    if (!rows[0]) throw new Error("the position of the events is gone");
    return rows[0];
  }

  async move(position: Date): Promise<void> {
    await this.#pool.query(
      "update trustflow.event_positions set position = $2 where namespace = $1 and position < $2",
      [this.#namespace, position],
    );
  }

  async knownAmong(ids: string[]): Promise<Set<string>> {
    const { rows } = await this.#pool.query<{ id: string }>(
      "select id from trustflow.process_events where id = any($1)",
      [ids],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Stores those that are new, and are of no erased process. Returns how many. */
  async store(events: ProcessEvent[], endpoints: readonly Endpoint[]): Promise<number> {
    const wanted = endpoints.flatMap(({ name, events: types }) =>
      types.map((type) => ({ name, type })),
    );
    const found = events.map(({ id, type, timestamp, data }) => ({
      ...{ id, type, timestamp, data },
      workflowId: workflowIdOf(data.process, data.id),
    }));
    const { rows } = await this.#pool.query<{ stored: number }>(
      `with stored as (
         insert into trustflow.process_events (id, namespace, workflow_id, type, happened_at, data)
         select f.id, $1, f."workflowId", f.type, f.timestamp, f.data
         from jsonb_to_recordset($2) as f (id text, "workflowId" text, type text, timestamp timestamptz, data jsonb)
         where not exists (
           select from trustflow.erasures e where e.namespace = $1 and e.workflow_id = f."workflowId")
         on conflict do nothing returning id, type),
       due as (
         insert into trustflow.webhook_deliveries (event, namespace, endpoint)
         select s.id, $1, w.name from stored s join jsonb_to_recordset($3) as w (name text, type text) on w.type = s.type)
       select count(*)::int as stored from stored`,
      [this.#namespace, JSON.stringify(found), JSON.stringify(wanted)],
    );
    return rows[0]?.stored ?? 0;
  }
}

/** Where webhooks go. */
export interface Endpoint {
  name: string;
  url: string;
  /** The new one first. */
  keys: readonly Buffer[];
  events: readonly ProcessEventType[];
  allowPrivate: boolean;
}
