// Which notices of a batch the provider's list names, how many recipients it names without a notice, and when a notice is closed: by
// a read, or by a callback that no later read contradicts. The ids of notices are kept in lower case, because they are compared without
// case.
export const listedItems = {
  name: "0010-listed-items",
  sql: `
    alter table trustflow.batches
      -- When the reading of the list last began at its first page.
      add column list_began_at timestamptz,
      -- Recipients without a notice: on the pages so far, and in the whole list as it was last read. listed_at counts with the
      -- latter alone: the release before sets it without noting which notices are listed.
      add column unnoticed_so_far integer not null default 0,
      add column unnoticed integer;
    alter table trustflow.batch_items
      drop column closed,
      drop column is_read,
      add column listed boolean not null default false,
      -- The id as the provider spells it, where that is not in lower case: it is put so into a call.
      add column shown_id text,
      -- When the read was asked that showed read_state. Without it, from the release before, read_at.
      add column shown_at timestamptz;
    update trustflow.batch_items i set evidence_id = lower(evidence_id), shown_id = evidence_id
      where evidence_id <> lower(evidence_id) and not exists (
        select from trustflow.batch_items o
        where o.batch = i.batch and lower(o.evidence_id) = lower(i.evidence_id) and o.evidence_id <> i.evidence_id);
    alter table trustflow.batch_items
      add column closed boolean not null generated always as (
        coalesce(read_state = 'Closed', false)
        or (coalesce(reported = 'Closed', false)
          and not coalesce(read_state is not null and coalesce(shown_at, read_at) >= heard_at, false))) stored,
      -- Whether the query says the state: once it has shown the end, and else where it is newer than the callback.
      add column is_read boolean not null generated always as (case
        when read_state is null then false
        when reported is null or read_state = 'Closed' then true
        else coalesce(coalesce(shown_at, read_at) >= heard_at, true) end) stored;
    create index batch_items_due on trustflow.batch_items (batch, closed, read_at) where not confirmed;
  `,
};
