// Batches of notices (docs/reading-the-specification.md §4): what is known of each notice, and the parts of the archive of their
// affidavits. No personal data: a notice is its id at the provider, a recipient its line in the list. A callback about a notice of a
// batch is not sent to a process; it says here which notice it is about.
export const batches = {
  name: "0008-batches",
  sql: `
    create table trustflow.batches (
      id bigint generated always as identity primary key,
      namespace text not null,
      workflow_id text not null,
      recipients integer not null,
      -- Where the reading of the provider's list of recipients goes on; and when it has come to the end of it.
      cursor text,
      listed_at timestamptz,
      -- When all open notices were last read.
      swept_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      unique (namespace, workflow_id)
    );
    create table trustflow.batch_items (
      batch bigint not null references trustflow.batches on delete cascade,
      evidence_id text not null,
      line integer,
      -- The newest callback: its state with the rank of that, when it happened, and when the callback came.
      reported text,
      reported_rank smallint,
      reported_at timestamptz,
      reported_outcome text,
      heard_at timestamptz,
      -- The newest query; it was asked at read_at, and may have shown nothing.
      read_state text,
      read_outcome text,
      read_at timestamptz not null default '-infinity',
      -- The part of the archive that has its affidavits.
      part integer,
      closed boolean not null generated always as (
        coalesce(reported = 'Closed', false) or coalesce(read_state = 'Closed', false)) stored,
      confirmed boolean not null generated always as (coalesce(read_state = 'Closed', false)) stored,
      -- Whether the query says the state. An end stays the end; else the newer one of callback and query says it.
      is_read boolean not null generated always as (case
        when read_state is null then false
        when reported is null then true
        when (read_state = 'Closed') <> (reported = 'Closed') then read_state = 'Closed'
        else read_at >= heard_at end) stored,
      primary key (batch, evidence_id)
    -- A callback changes no column of an index before it reports the end, so that its row is written in place.
    ) with (fillfactor = 70);
    create index batch_items_due on trustflow.batch_items (batch, closed, read_at) where not confirmed;
    create table trustflow.batch_parts (
      batch bigint not null references trustflow.batches on delete cascade,
      part integer not null,
      document text not null,
      size bigint not null,
      entries bytea not null,
      primary key (batch, part)
    );
    alter table trustflow.callbacks
      add column evidence_id text,
      add column kind text,
      add column event_date timestamptz;
  `,
};
