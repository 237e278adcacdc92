// One of several processes does what only one needs to do: PostgreSQL gives it a lock for as long as its connection lasts.
import type { Pool, PoolClient } from "./pool.js";

export class SoleHolder {
  readonly #pool: Pool;
  readonly #name: string;
  #holding: PoolClient | undefined;

  constructor(pool: Pool, name: string) {
    this.#pool = pool;
    this.#name = name;
  }

  /** Takes the lock where it is free. A lock whose connection broke is lost, and taken again if no other process was faster. */
  async isHeld(): Promise<boolean> {
    if (this.#holding) return this.#stillHolds(this.#holding);
    const client = await this.#pool.connect();
    client.on("error", () => this.close());
    this.#holding = client;
    const take = "select pg_try_advisory_lock(hashtextextended($1, 0)) as held";
    try {
      const { rows } = await client.query<{ held: boolean }>(take, [this.#name]);
      if (rows[0]?.held !== true) this.close();
    } catch (error) {
      this.close();
      throw error;
    }
    return this.#holding !== undefined;
  }

  async #stillHolds(client: PoolClient): Promise<boolean> {
    try {
      await client.query("select");
    } catch {
      this.close();
    }
    return this.#holding === client;
  }

  /** Ends the connection, and with it the lock. */
  close(): void {
    const client = this.#holding;
    this.#holding = undefined;
    client?.release(true);
  }
}
