// Tokens of callbacks that name no process (P1 §6.1): sealed by the relay for the workers, which find the conference that each opens
// (docs/decisions/0037). And what the provider has shown of the tokens that a process has.
export const unaddressedTokens = {
  name: "0017-unaddressed-tokens",
  indexes: [
    {
      name: "callbacks_alone",
      on: `callbacks (coalesce(claimed_until, '-infinity'))
        where failures >= 5 and state in ('waiting', 'unaddressed')`,
    },
    // By which the erasure of a process finds those that were not known to be its own.
    {
      name: "callbacks_unmatched",
      on: "callbacks (provider, account, reference) where workflow_id is null and reference is not null",
    },
    // The newest conferences of an account.
    { name: "correlations_newest", on: "correlations (provider, account, created_at)" },
  ],
  sql: `
    create table trustflow.unaddressed_tokens (
      callback bigint primary key,
      provider text not null,
      account text not null,
      -- For the workers; emptied once the token is judged.
      sealed text,
      -- What the provider has shown for the token; without it a judged token opens nothing of the account.
      reference text,
      -- The references whose data the provider has not shown for it.
      refused text[] not null default '{}',
      -- Whether its claims, which nobody believes, name a reference of the account; null until a worker has looked.
      names_ours boolean,
      judged_at timestamptz,
      due_at timestamptz not null default clock_timestamp(),
      stored_at timestamptz not null default clock_timestamp()
    );
    create index unaddressed_tokens_due on trustflow.unaddressed_tokens (provider, account, due_at) where judged_at is null;
    create index unaddressed_tokens_unread on trustflow.unaddressed_tokens (provider, account, callback)
      where names_ours is null and judged_at is null;
    create index unaddressed_tokens_judged on trustflow.unaddressed_tokens (callback) where judged_at is not null;
    alter table trustflow.event_secrets
      add column tried_at timestamptz,
      -- When the provider has shown the process's own data for it.
      add column opened_at timestamptz;
  `,
};
