// What one callback address may bring (docs/decisions/0020): a row for each address counts what it brought.
// `store_callbacks` stores and counts in one commit. It runs with its owner's rights, so that the receiver needs no right on any
// table. `surplus` is a row that its process is not told of.
export const callbackQuota = {
  name: "0007-callback-quota",
  indexes: [
    { name: "callbacks_surplus", on: "callbacks (id) where state = 'surplus'" },
    // It serves the release before as well: what that asks for is part of it.
    {
      name: "callbacks_settled",
      on: "callbacks (settled_at) where state in ('delivered', 'late', 'kept', 'surplus')",
    },
  ],
  // The first two need every statement on the table to wait, for a moment: nothing is read or built.
  sql: `
    alter table trustflow.callbacks
      drop constraint callbacks_state_check,
      add constraint callbacks_state_check check (
        state in ('unaddressed', 'waiting', 'delivered', 'parked', 'late', 'kept', 'surplus')) not valid;
    drop index trustflow.callbacks_by_age;

    create table trustflow.callback_addresses (
      address text primary key,
      account text,
      namespace text,
      workflow_id text,
      -- What is stored: of a process's own address ever, and with it what came to the account's address for that process; of
      -- an account's address on the day of counted_on.
      rows integer not null default 0,
      bytes bigint not null default 0,
      counted_on date not null default current_date,
      -- Of the stored ones those that the process is not told of; and those that were not stored, as often as was asked.
      surplus integer not null default 0,
      refused integer not null default 0,
      -- When the process is to be told that there are such: at most once in a minute, then at twice the distance each time.
      wake_at timestamptz,
      wakes integer not null default 0,
      woken_at timestamptz
    );
    create index callback_wakes on trustflow.callback_addresses (wake_at) where wake_at is not null;
    create index callback_floods on trustflow.callback_addresses (address) where surplus > 0 or refused > 0;

    create function trustflow.next_wake(wake_at timestamptz, wakes integer, woken_at timestamptz) returns timestamptz
    language sql stable as $$
      select coalesce(wake_at, greatest(clock_timestamp(),
        woken_at + least(interval '1 day', power(2, least(wakes, 20)) * interval '30 seconds')))
    $$;

    -- One answer for each callback: stored, duplicate, full (beyond the quota) or expired (an address without a date, as
    -- earlier releases issued them, when the life of the last one of these is over).
    create function trustflow.store_callbacks(
      in_addresses text[], in_identifiers text[], in_providers text[], in_accounts text[], in_namespaces text[],
      in_workflow_ids text[], in_bodies bytea[], in_undated boolean[],
      told_of integer, most_rows integer, most_bytes bigint, most_rows_a_day integer, most_bytes_a_day bigint,
      life_days integer
    ) returns text[] language plpgsql security definer set search_path = pg_catalog, pg_temp
    -- A plan that was made while a table was small is used when it is large.
    set enable_seqscan = off as $$
    declare
      answers text[];
      are_undated_expired boolean := exists (
        select 1 from trustflow.migrations
        where name = '0007-callback-quota' and applied_at + life_days * interval '1 day' < clock_timestamp());
      has_news boolean;
    begin
      -- Its caller may be one who has broken into the receiver: no limit is larger than the configuration's largest (config.ts).
      told_of := least(told_of, 1000);
      most_rows := least(most_rows, 10000);
      most_bytes := least(most_bytes, 100000000);
      most_rows_a_day := least(most_rows_a_day, 500000);
      most_bytes_a_day := least(most_bytes_a_day, 1000000000);

      -- In the order of the addresses, so that of two batches with the same ones one waits for the other.
      insert into trustflow.callback_addresses (address, account, namespace, workflow_id)
        select distinct on (a.address) a.address, a.account, a.namespace, a.workflow_id
        from unnest(in_addresses, in_accounts, in_namespaces, in_workflow_ids) as a (address, account, namespace, workflow_id)
        order by a.address
        -- Locks the row that is there; where it is deleted meanwhile, a new one is inserted.
        on conflict (address) do update set address = excluded.address;

      with arrival as (
        select *, octet_length(body) as size
        from unnest(in_addresses, in_identifiers, in_providers, in_accounts, in_namespaces, in_workflow_ids,
          in_bodies, in_undated) with ordinality
          as a (address, identifier, provider, account, namespace, workflow_id, body, is_undated, n)),
      fresh as (
        select distinct on (a.address, a.identifier) a.* from arrival a
        where (
          select 1 from trustflow.callbacks c where c.address = a.address and c.identifier = a.identifier) is null
        order by a.address, a.identifier, a.n),
      counted as (
        select f.*, base.rows + row_number() over run as nth, base.bytes + sum(f.size) over run as total
        from fresh f
        join trustflow.callback_addresses q on q.address = f.address
        cross join lateral (
          select case when is_today then q.rows else 0 end as rows, case when is_today then q.bytes else 0 end as bytes
          from (select q.account is null or q.counted_on = current_date as is_today) as day) as base
        window run as (partition by f.address order by f.n)),
      judged as (
        select c.*, case
          when c.is_undated and c.account is null and are_undated_expired then 'expired'
          when c.nth > case when c.account is null then most_rows else most_rows_a_day end
            or c.total > case when c.account is null then most_bytes else most_bytes_a_day end then 'full'
          else 'stored' end as answer,
          case when c.account is not null then 'unaddressed' when c.nth > told_of then 'surplus' else 'waiting' end as state
        from counted c),
      stored as (
        insert into trustflow.callbacks
          (address, identifier, provider, account, namespace, workflow_id, size, body, state, settled_at)
        select address, identifier, provider, account, namespace, workflow_id, size, body, state,
          case when state = 'surplus' then clock_timestamp() end
        from judged where answer = 'stored' order by n
        on conflict (address, identifier) do nothing
        returning address, identifier, size, state),
      sums as (
        select j.address, count(s.address)::int as rows, coalesce(sum(s.size), 0) as bytes,
          count(*) filter (where s.state = 'surplus')::int as surplus,
          count(*) filter (where j.answer = 'full')::int as refused
        from judged j left join stored s on s.address = j.address and s.identifier = j.identifier
        group by j.address),
      counted_up as (
        update trustflow.callback_addresses q set
          rows = s.rows + case when q.account is null or q.counted_on = current_date then q.rows else 0 end,
          bytes = s.bytes + case when q.account is null or q.counted_on = current_date then q.bytes else 0 end,
          counted_on = current_date,
          surplus = q.surplus + s.surplus,
          refused = q.refused + s.refused,
          wake_at = case when q.account is null and s.surplus + s.refused > 0
            then trustflow.next_wake(q.wake_at, q.wakes, q.woken_at) else q.wake_at end
        from sums s where q.address = s.address and s.rows + s.refused > 0)
      select array_agg(coalesce(case when s.address is null and j.answer = 'stored' then 'duplicate' else j.answer end,
          'duplicate') order by a.n),
        coalesce(bool_or(s.state <> 'surplus'), false)
      into answers, has_news
      from arrival a
      left join judged j on j.n = a.n
      left join stored s on s.address = j.address and s.identifier = j.identifier;
      if has_news then perform pg_notify('trustflow_callbacks', ''); end if;
      return answers;
    end $$;
    revoke all on function trustflow.store_callbacks from public;
  `,
};
