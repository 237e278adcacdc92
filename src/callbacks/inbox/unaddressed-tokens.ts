// Keeps the tokens of callbacks that name no process (docs/decisions/0033): the relay offers them to the workers, and reads which reference
// the provider has shown for each.
import type { Pool } from "../../postgres/pool.js";

export interface OfferedToken {
  callback: string;
  provider: string;
  account: string;
  /** For the workers. */
  sealed: string;
}

export interface Judgement {
  /** Whether a worker has tried it to the end. */
  isJudged: boolean;
  /** The provider has shown this reference for it. */
  reference?: string;
}

/** A callback whose token was not offered yet is missing. */
export async function judgementsOf(
  pool: Pool,
  callbacks: string[],
): Promise<Map<string, Judgement>> {
  const { rows } = await pool.query<{ id: string; isJudged: boolean; reference: string | null }>(
    `select callback as id, judged_at is not null as "isJudged", reference
     from trustflow.unaddressed_tokens where callback = any($1::bigint[])`,
    [callbacks],
  );
  return new Map(
    rows.map(({ id, isJudged, reference }) => [
      id,
      { isJudged, ...(reference !== null && { reference }) },
    ]),
  );
}

export async function offerTokens(pool: Pool, tokens: OfferedToken[]): Promise<void> {
  await pool.query(
    `insert into trustflow.unaddressed_tokens (callback, provider, account, sealed)
     select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) on conflict do nothing`,
    [
      tokens.map(({ callback }) => callback),
      tokens.map(({ provider }) => provider),
      tokens.map(({ account }) => account),
      tokens.map(({ sealed }) => sealed),
    ],
  );
}

/** So many at a time. */
const MAX_ROWS = 1_000;
// The callback of a token is found by its id. `=` in place of `distinct` would offer an index of the state, which by the statistics of an
// empty queue has no rows, and would be read to its end for each token.

/** Ends the wait of callbacks whose tokens are judged. */
export async function freeJudged(pool: Pool): Promise<void> {
  await pool.query(
    `update trustflow.callbacks c set claimed_until = null
     where c.claim is null and c.id in (
       select w.id from trustflow.unaddressed_tokens t join trustflow.callbacks w on w.id = t.callback
       where t.judged_at is not null and w.state is not distinct from 'unaddressed' and w.claim is null
         and w.claimed_until > clock_timestamp()
       limit ${MAX_ROWS})`,
  );
}

/** Forgets the tokens of callbacks that wait no more. */
export async function forgetSettled(pool: Pool): Promise<void> {
  await pool.query(
    `delete from trustflow.unaddressed_tokens where callback in (
       select t.callback from trustflow.unaddressed_tokens t left join trustflow.callbacks c on c.id = t.callback
       where c.state is distinct from 'unaddressed' limit ${MAX_ROWS})`,
  );
}

export async function forgetTokens(pool: Pool, callbacks: string[]): Promise<void> {
  const those = "delete from trustflow.unaddressed_tokens where callback = any($1::bigint[])";
  await pool.query(those, [callbacks]);
}
