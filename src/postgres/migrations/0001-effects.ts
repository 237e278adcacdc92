// The journal (docs/design.md §6): one row per effect. Answers and decisions are sealed; everything in the clear is free of personal data.
export const effects = {
  name: "0001-effects",
  sql: `
    create table trustflow.effects (
      token uuid primary key,
      seq bigint generated always as identity unique,
      namespace text not null,
      workflow_id text not null,
      step text not null,
      occurrence text not null,
      provider text,
      operation text,
      account text,
      effect_class text,
      digest text,
      state text not null check (state in ('sending', 'answered', 'refused', 'notSent', 'withdrawn')),
      attempts integer not null default 0,
      denied integer not null default 0,
      -- An earlier attempt may have reached the provider, so that not even a clean "not sent" of this one settles it.
      uncertain boolean not null default false,
      absent integer not null default 0,
      absent_at timestamptz,
      lease_until timestamptz,
      holder uuid,
      sealed_answer bytea,
      sealed_decisions bytea,
      next_occurrence text,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      unique (namespace, workflow_id, step, occurrence)
    );
    create index effects_by_age on trustflow.effects (updated_at);
  `,
};
