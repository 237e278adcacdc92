// Addresses of batches (docs/decisions/0020): such an address says itself how many callbacks it may bring. `store_callbacks` has one
// argument more; the release before calls it without that.
export const batchAddresses = {
  name: "0009-batch-addresses",
  indexes: [
    {
      name: "callbacks_of_item",
      on: "callbacks (workflow_id, evidence_id, id) where evidence_id is not null",
    },
  ],
  sql: `
    drop function trustflow.store_callbacks;

    -- As in 0007. in_rows: how many rows the address itself allows, and 4 kB for each; all of them wait, and nobody is told of more.
    create function trustflow.store_callbacks(
      in_addresses text[], in_identifiers text[], in_providers text[], in_accounts text[], in_namespaces text[],
      in_workflow_ids text[], in_bodies bytea[], in_undated boolean[],
      told_of integer, most_rows integer, most_bytes bigint, most_rows_a_day integer, most_bytes_a_day bigint,
      life_days integer, in_rows integer[] default null
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
      in_rows := coalesce(in_rows, array_fill(null::integer, array[cardinality(in_addresses)]));

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
          in_bodies, in_undated, in_rows) with ordinality
          as a (address, identifier, provider, account, namespace, workflow_id, body, is_undated, allowed, n)),
      fresh as (
        select distinct on (a.address, a.identifier) a.*,
          case when a.account is not null then most_rows_a_day when a.allowed is null then most_rows
            else least(a.allowed, 50000000) end as max_rows,
          case when a.account is not null then most_bytes_a_day when a.allowed is null then most_bytes
            else least(a.allowed, 50000000)::bigint * 4096 end as max_bytes
        from arrival a
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
          when c.nth > c.max_rows or c.total > c.max_bytes then 'full'
          else 'stored' end as answer,
          case when c.account is not null then 'unaddressed'
            when c.allowed is null and c.nth > told_of then 'surplus' else 'waiting' end as state
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
          count(*) filter (where j.answer = 'full')::int as refused,
          bool_and(j.allowed is null) as is_told
        from judged j left join stored s on s.address = j.address and s.identifier = j.identifier
        group by j.address),
      counted_up as (
        update trustflow.callback_addresses q set
          rows = s.rows + case when q.account is null or q.counted_on = current_date then q.rows else 0 end,
          bytes = s.bytes + case when q.account is null or q.counted_on = current_date then q.bytes else 0 end,
          counted_on = current_date,
          surplus = q.surplus + s.surplus,
          refused = q.refused + s.refused,
          wake_at = case when q.account is null and s.is_told and s.surplus + s.refused > 0
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
    -- The receiver of the release before goes on at once, not only when migrate has granted everything.
    do $$ begin
      if exists (select from pg_roles where rolname = 'trustflow_receiver') then
        grant execute on function trustflow.store_callbacks to trustflow_receiver;
      end if;
    end $$;
  `,
};
