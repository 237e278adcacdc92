// What a look-up of an account is worth (docs/reading-the-specification.md §1): whether it has found one of our own
// items. One row for each account, operation, form of the item and configuration of the look-up.
export const lookUpProofs = {
  name: "0004-look-up-proofs",
  sql: `
    create table trustflow.look_up_proofs (
      provider text not null,
      account text not null,
      operation text not null,
      form text not null,
      configuration text not null,
      finding text check (finding in ('found', 'missing')),
      -- When the finding was made, or made again.
      found_at timestamptz,
      -- The greatest age, in milliseconds, at which the item of the finding was still missed.
      missed_after_ms bigint,
      -- An answered item of ours that is looked for now, sealed; and when it was answered.
      sample bytea,
      sampled_at timestamptz,
      sample_missed_ms bigint,
      next_look_at timestamptz,
      primary key (provider, account, operation, form, configuration)
    );
  `,
};
