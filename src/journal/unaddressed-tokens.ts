// Lets a worker try the tokens of callbacks that name no process (docs/decisions/0033): it tries each against the conferences of the
// account, and notes which reference the provider has shown for it.
import type { Pool } from "../postgres/pool.js";

export interface AccountOf {
  provider: string;
  account: string;
}

export interface UnaddressedToken {
  callback: string;
  /** For the account. */
  sealed: string;
  /** The references whose data the provider has not shown for it. */
  refused: string[];
  /** Since it was offered. */
  ageMs: number;
}

export class UnaddressedTokens {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async areDue(provider: string, accounts: string[]): Promise<boolean> {
    const { rows } = await this.#pool.query(
      `select from trustflow.unaddressed_tokens
       where provider = $1 and account = any($2) and judged_at is null and due_at <= clock_timestamp() limit 1`,
      [provider, accounts],
    );
    return rows.length > 0;
  }

  /** Tokens whose claims nobody has looked at, the oldest first. */
  async unread(
    { provider, account }: AccountOf,
    most: number,
  ): Promise<Pick<UnaddressedToken, "callback" | "sealed">[]> {
    const { rows } = await this.#pool.query<Pick<UnaddressedToken, "callback" | "sealed">>(
      `select callback, sealed from trustflow.unaddressed_tokens
       where provider = $1 and account = $2 and names_ours is null and judged_at is null order by callback limit $3`,
      [provider, account, most],
    );
    return rows;
  }

  /** Notes of each token whether its claims name a reference of the account. */
  async noteRead(callbacks: string[], namesOurs: boolean[]): Promise<void> {
    await this.#pool.query(
      `update trustflow.unaddressed_tokens t set names_ours = r.names_ours
       from unnest($1::bigint[], $2::boolean[]) as r (callback, names_ours) where t.callback = r.callback`,
      [callbacks, namesOurs],
    );
  }

  /**
   * Takes due tokens for `leaseMs`. First come those that name a reference of the account, then those that were tried least, so that no
   * token waits for the end of another.
   */
  async take(
    { provider, account }: AccountOf,
    most: number,
    leaseMs: number,
  ): Promise<UnaddressedToken[]> {
    const { rows } = await this.#pool.query<UnaddressedToken>(
      `update trustflow.unaddressed_tokens set due_at = clock_timestamp() + $4 * interval '1 millisecond'
       where callback in (
         select callback from trustflow.unaddressed_tokens
         where provider = $1 and account = $2 and judged_at is null and due_at <= clock_timestamp()
         order by names_ours desc nulls last, cardinality(refused), callback limit $3 for update skip locked)
       returning callback, sealed, refused, extract(epoch from clock_timestamp() - stored_at)::float8 * 1000 as "ageMs"`,
      [provider, account, most, leaseMs],
    );
    return rows;
  }

  /** The newest references of the account, whichever namespace has them, and those among `named`. */
  async references(
    { provider, account }: AccountOf,
    named: string[],
    most: number,
  ): Promise<string[]> {
    const { rows } = await this.#pool.query<{ reference: string }>(
      `(select reference from trustflow.correlations where provider = $1 and account = $2 order by created_at desc limit $4)
       union select reference from trustflow.correlations where provider = $1 and account = $2 and reference = any($3)`,
      [provider, account, named, most],
    );
    return rows.map(({ reference }) => reference);
  }

  /** Tries the token again after `waitMs`, with other references. */
  async refuse(callback: string, references: string[], waitMs: number): Promise<void> {
    await this.#pool.query(
      `update trustflow.unaddressed_tokens
       set refused = refused || $2::text[], due_at = clock_timestamp() + $3 * interval '1 millisecond' where callback = $1`,
      [callback, references, waitMs],
    );
  }

  /** `reference`: what the provider has shown for the token; without it, it opens nothing of the account. The token itself goes. */
  async judge(callback: string, reference?: string): Promise<void> {
    await this.#pool.query(
      `update trustflow.unaddressed_tokens set judged_at = clock_timestamp(), reference = $2, sealed = null where callback = $1`,
      [callback, reference ?? null],
    );
  }
}
