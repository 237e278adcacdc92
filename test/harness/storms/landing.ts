// Where a storm's callbacks have landed: in the timelines of processes, or parked or late in the inbox.
import { createPool } from "../../../src/postgres/pool.js";
import type { Pool } from "../../../src/postgres/pool.js";
import { eventually } from "../outages/wait.js";
import type { ProcessUnderTest } from "../../processes/process-under-test.js";
import type { TestStack } from "../stack/stack.js";
import { mark } from "./postings.js";

export interface Landed {
  /** In timelines, as often as it stands there. */
  applied: string[];
  /** In the inbox, by what became of it: `delivered`, `late`, or the reason it was parked for. */
  rows: Map<string, string[]>;
}

export class Landing {
  readonly pool: Pool;
  readonly #system: TestStack;

  constructor(system: TestStack) {
    this.#system = system;
    this.pool = createPool(system.stack.databaseUrl, { max: 2 });
  }

  /** Until no callback waits any more. */
  async settled(limitMs = 45_000): Promise<void> {
    await eventually(
      "every callback is delivered, parked or late",
      () => this.#isSettled(),
      limitMs,
    );
  }

  async of(underTest: ProcessUnderTest, openIds: readonly string[]): Promise<Landed> {
    const { process: processName } = underTest;
    const applied: string[] = [];
    for (const id of openIds) {
      const { timeline } = await this.#system.client.handle(`${processName}/${id}`).status();
      for (const { source, note } of timeline) {
        if (source === "callback" && note?.startsWith(mark))
          applied.push(`${processName}/${id} ${note}`);
      }
    }
    const found = await this.pool.query<{ key: string; fate: string }>(
      `select workflow_id || ' ' || identifier as key, coalesce(reason, state) as fate
       from trustflow.callbacks where identifier like $1`,
      [`${mark}%`],
    );
    const rows = new Map<string, string[]>();
    for (const { key, fate } of found.rows) {
      const keys = rows.get(fate);
      if (keys) keys.push(key);
      else rows.set(fate, [key]);
    }
    return { applied, rows };
  }

  /** No transaction can write into the inbox until it is released. */
  async hold(): Promise<() => Promise<void>> {
    const client = await this.pool.connect();
    await client.query("begin");
    await client.query("lock table trustflow.callbacks in exclusive mode");
    return async () => {
      await client.query("commit");
      client.release();
    };
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  async #isSettled(): Promise<boolean> {
    const { rows } = await this.pool.query(
      "select 1 from trustflow.callbacks where state = 'waiting' limit 1",
    );
    return rows.length === 0;
  }
}
