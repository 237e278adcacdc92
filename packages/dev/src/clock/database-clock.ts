// The virtual clock in the database: its functions of time stand before PostgreSQL's own in each session's search path, so it has to be
// there before the tables, whose defaults call them.
import pg from "pg";

const NAME = "virtual_clock";

/** Called before the tables are made. */
export async function makeDatabaseClock(ownerUrl: string): Promise<void> {
  const shifted = (name: string, volatility: string) =>
    `create function ${NAME}.${name}() returns timestamptz language sql ${volatility}
       as 'select pg_catalog.${name}() + shift from ${NAME}.step';`;
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query(`
      create schema ${NAME};
      grant usage on schema ${NAME} to public;
      create table ${NAME}.step (shift interval not null);
      grant select on ${NAME}.step to public;
      insert into ${NAME}.step values ('0');
      ${shifted("clock_timestamp", "volatile")}
      ${shifted("statement_timestamp", "stable")}
      ${shifted("now", "stable")}
      do $$ begin
        execute format('alter database %I set search_path = ${NAME}, pg_catalog, public', current_database());
      end $$;`);
  } finally {
    await client.end();
  }
}

/** So many milliseconds pass at once; the clock then goes on in real time. */
export async function passInDatabase(pool: Pick<pg.Pool, "query">, ms: number): Promise<void> {
  const sql = `update ${NAME}.step set shift = shift + $1 * interval '1 millisecond'`;
  await pool.query(sql, [ms]);
}

export class DatabaseClock {
  readonly #pool: pg.Pool;
  #ended: Promise<void> | undefined;

  constructor(ownerUrl: string) {
    this.#pool = new pg.Pool({ connectionString: ownerUrl, max: 1 });
    // The next query says it: an event that nobody hears would end the test's process.
    this.#pool.on("error", () => undefined);
  }

  /** Unlike the others it goes on in real time from there, because leases in the database are for real crashes. */
  async step(virtual: number): Promise<void> {
    const sql = `update ${NAME}.step set shift = $1::timestamptz - pg_catalog.clock_timestamp()`;
    await this.#pool.query(sql, [new Date(virtual)]);
  }

  /** Whether the relay has callbacks to deliver. */
  async hasCallbacks(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ found: boolean }>(`
      select exists (select from trustflow.callbacks where state in ('waiting', 'unaddressed')
        and (claim is not null or coalesce(claimed_until, '-infinity') <= ${NAME}.clock_timestamp())) as found`);
    return rows[0]?.found === true;
  }

  close(): Promise<void> {
    return (this.#ended ??= this.#pool.end());
  }
}
