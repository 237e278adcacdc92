// What the receiver does with the inbox: it stores arrivals, and nothing else. It seals each body to a public key, so it cannot
// open what it stores; and its statement needs no right but to insert.
import { setTimeout as sleep } from "node:timers/promises";
import { BoxSealer } from "../crypto/sealed-box.js";
import type { KeyRing } from "../crypto/key-ring.js";
import type { Pool } from "../postgres/pool.js";
import type { Subject } from "./address.js";
import { bodyContext } from "./body-keys.js";
import { inboxChannel } from "./inbox.js";

export interface Arrival {
  address: string;
  /** Unique within the address. */
  identifier: string;
  subject: Subject;
  body: Buffer;
}

const DEADLOCK = "40P01";
const mostTries = 5;

export class Arrivals {
  readonly #pool: Pool;
  readonly #sealer: BoxSealer;

  constructor(pool: Pool, publicRing: KeyRing) {
    this.#pool = pool;
    this.#sealer = new BoxSealer(publicRing);
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
      // `on conflict` names no columns: that would need the right to read them.
      text: `with fresh as (
          insert into trustflow.callbacks
            (address, identifier, provider, account, namespace, workflow_id, size, body, state)
          select *, case when account is null then 'waiting' else 'unaddressed' end
          from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bytea[])
            as arrival (address, identifier, provider, account, namespace, workflow_id, size, body)
          on conflict do nothing returning 1),
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
        arrivals.map((arrival) => this.#sealer.seal(arrival.body, bodyContext(arrival))),
      ],
      query_timeout: timeoutMs,
    } as { text: string; values: unknown[] });
    return rows[0]?.fresh ?? 0;
  }
}
