// The inbox (docs/design.md §7): queue, dedupe, delivery log and evidence in one table. The raw body is sealed.
export const callbacks = {
  name: "0002-callbacks",
  sql: `
    create table trustflow.callbacks (
      id bigint generated always as identity primary key,
      address text not null,
      identifier text not null,
      provider text not null,
      namespace text not null,
      workflow_id text not null,
      state text not null default 'waiting' check (state in ('waiting', 'delivered', 'parked', 'late', 'kept')),
      reason text,
      detail text,
      attempts integer not null default 0,
      claim uuid,
      -- While it lies ahead, nobody else takes a row of this process: a relay's lease, or the pause after a failure.
      claimed_until timestamptz,
      size integer not null,
      body bytea,
      received_at timestamptz not null default clock_timestamp(),
      settled_at timestamptz,
      unique (address, identifier)
    );
    create index callbacks_waiting on trustflow.callbacks (id) where state = 'waiting';
    create index callbacks_held on trustflow.callbacks (claimed_until)
      where state = 'waiting' and claimed_until is not null;
    create index callbacks_by_process on trustflow.callbacks (workflow_id, id);
    create index callbacks_unsettled on trustflow.callbacks (state, id) where state in ('parked', 'late');
    create index callbacks_by_age on trustflow.callbacks (settled_at) where state in ('delivered', 'late', 'kept');
  `,
};
