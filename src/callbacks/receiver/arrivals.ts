// The receiver's access to the inbox: it only stores. It seals each body to a public key, so it cannot open stored bodies.
// Its only database right is to call `store_callbacks`.
import { setTimeout as sleep } from "node:timers/promises";
import { BoxSealer } from "../../crypto/sealed-box.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { defaultQuota } from "../../contracts/shared/callback-quota.js";
import type { Quota } from "../../contracts/shared/callback-quota.js";
import type { Pool } from "../../postgres/pool.js";
import { bodyContext } from "../inbox/rows.js";
import type { Arrival, StoreResult } from "./admission.js";

const DEADLOCK = "40P01";
const MAX_TRIES = 5;

export class Arrivals {
  readonly #pool: Pool;
  readonly #sealer: BoxSealer;
  readonly #quota: Quota;

  constructor(pool: Pool, publicRing: KeyRing, quota = defaultQuota) {
    this.#pool = pool;
    this.#quota = quota;
    this.#sealer = new BoxSealer(publicRing);
  }

  /** Stores a batch of callbacks in one commit, within the quota of each address; returns the result of each. */
  async insert(arrivals: Arrival[], timeoutMs: number): Promise<StoreResult[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#insert(arrivals, timeoutMs);
      } catch (error) {
        // A deadlock: another receiver stores the same callbacks in another order, and will have them stored soon.
        if ((error as { code?: unknown }).code !== DEADLOCK || tries === MAX_TRIES) throw error;
        // Waits so that the other receiver can commit; else both would deadlock again.
        await sleep(tries * 50 * (0.5 + Math.random()));
      }
    }
  }

  async #insert(arrivals: Arrival[], timeoutMs: number): Promise<StoreResult[]> {
    const quota = this.#quota;
    const { rows } = await this.#pool.query<{ verdicts: StoreResult[] }>({
      name: "inbox-insert",
      text: `select trustflow.store_callbacks(
          $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) as verdicts`,
      values: [
        arrivals.map(({ address }) => address),
        arrivals.map(({ identifier }) => identifier),
        arrivals.map(({ subject }) => subject.provider),
        arrivals.map(({ subject }) => ("account" in subject ? subject.account : null)),
        arrivals.map(({ subject }) => ("account" in subject ? null : subject.namespace)),
        arrivals.map(({ subject }) => ("account" in subject ? null : subject.workflowId)),
        arrivals.map((arrival) => this.#sealer.seal(arrival.body, bodyContext(arrival))),
        arrivals.map(({ rows }) => rows ?? null),
        quota.eventsPerProcess,
        quota.rowsPerAddress,
        quota.bytesPerAddress,
        quota.accountRowsPerDay,
        quota.accountBytesPerDay,
      ],
      query_timeout: timeoutMs,
    } as { text: string; values: unknown[] });
    return arrivals.map((_, index) => rows[0]?.verdicts[index] ?? "full");
  }
}
