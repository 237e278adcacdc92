// Callbacks to an account's own address (docs/design.md §7, docs/reading-the-specification.md §6): such a row has no
// process until its reference is known. `unaddressed` is a state of its own, so that the claim of process rows, also
// the previous release's, never sees one.
export const accounts = {
  name: "0003-accounts",
  sql: `
    alter table trustflow.callbacks
      add column account text,
      alter column namespace drop not null,
      alter column workflow_id drop not null,
      drop constraint callbacks_state_check,
      -- Not valid: every old row is, and the whole table need not be read under this lock.
      add constraint callbacks_state_check check (
        state in ('unaddressed', 'waiting', 'delivered', 'parked', 'late', 'kept')) not valid,
      add constraint callbacks_addressed check (
        (namespace is not null and workflow_id is not null)
        or (account is not null and state in ('unaddressed', 'parked'))) not valid;
    -- What is due comes first; what rests is not read.
    create index callbacks_unaddressed on trustflow.callbacks (coalesce(claimed_until, '-infinity'), id)
      where state = 'unaddressed';
    -- Which process a provider's reference belongs to; written with the answer that showed it.
    create table trustflow.correlations (
      provider text not null,
      account text not null,
      reference text not null,
      namespace text not null,
      workflow_id text not null,
      created_at timestamptz not null default clock_timestamp(),
      primary key (provider, account, reference)
    );
    create index correlations_by_process on trustflow.correlations (namespace, workflow_id);
  `,
};
