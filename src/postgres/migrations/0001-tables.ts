// All tables, their indexes, and the functions by which the receiver stores callbacks and the relay wakes a process.
export const tables = {
  name: "0001-tables",
  sql: `
    -- The journal (docs/design.md §6): one row per effect. Answers and decisions are sealed; everything in the clear is free of personal
    -- data.
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

    -- The inbox (docs/design.md §7): queue, dedupe, delivery log and evidence in one table. The raw body is sealed. A callback to an
    -- account's own address has no process until its reference is known. A row in the state surplus is one that its process is not told of.
    create table trustflow.callbacks (
      id bigint generated always as identity primary key,
      address text not null,
      identifier text not null,
      provider text not null,
      namespace text,
      workflow_id text,
      state text not null default 'waiting' check (
        state in ('unaddressed', 'waiting', 'delivered', 'parked', 'late', 'kept', 'surplus')),
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
      account text,
      -- What a callback about a notice of a batch says; no process is told of it.
      evidence_id text,
      kind text,
      event_date timestamptz,
      -- The reference in a callback to an account's address, so that the erasure of its process finds the body: who erases cannot open
      -- one. Null once its process is known.
      reference text,
      -- How often the callback itself has failed: it is then tried alone, and parked at last (docs/design.md §7).
      failures integer not null default 0,
      unique (address, identifier),
      constraint callbacks_addressed check (
        (namespace is not null and workflow_id is not null)
        or (account is not null and state in ('unaddressed', 'parked')))
    );
    create index callbacks_waiting on trustflow.callbacks (id) where state = 'waiting';
    create index callbacks_held on trustflow.callbacks (claimed_until)
      where state = 'waiting' and claimed_until is not null;
    create index callbacks_by_process on trustflow.callbacks (workflow_id, id);
    create index callbacks_of_item on trustflow.callbacks (workflow_id, evidence_id, id) where evidence_id is not null;
    create index callbacks_unsettled on trustflow.callbacks (state, id) where state in ('parked', 'late');
    create index callbacks_settled on trustflow.callbacks (settled_at)
      where state in ('delivered', 'late', 'kept', 'surplus');
    create index callbacks_surplus on trustflow.callbacks (id) where state = 'surplus';
    -- What is due comes first; what rests is not read.
    create index callbacks_unaddressed on trustflow.callbacks (coalesce(claimed_until, '-infinity'), id)
      where state = 'unaddressed';
    create index callbacks_alone on trustflow.callbacks (coalesce(claimed_until, '-infinity'))
      where failures >= 5 and state in ('waiting', 'unaddressed');
    -- By which the erasure of a process finds those that were not known to be its own.
    create index callbacks_unmatched on trustflow.callbacks (provider, account, reference)
      where workflow_id is null and reference is not null;

    -- What one callback address may bring (docs/decisions/0020): a row for each address counts what it brought.
    create table trustflow.callback_addresses (
      address text primary key,
      account text,
      namespace text,
      workflow_id text,
      -- What is stored: of a process's own address ever; of an account's address on the day of counted_on; at "account:…" what came to
      -- the account's address for one process.
      rows integer not null default 0,
      bytes bigint not null default 0,
      counted_on date not null default (clock_timestamp() at time zone 'UTC')::date,
      -- Of the stored ones those that the process is not told of; and those that were not stored, as often as was asked, of an account's
      -- address on that day too.
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

    -- Stores and counts in one commit, with its owner's rights, so that the receiver needs no right on any table. One answer for each
    -- callback: stored, duplicate or full (beyond the quota). in_rows: how many rows an address itself allows (that of a batch), and
    -- 4 kB for each; all of them wait, and nobody is told of more.
    create function trustflow.store_callbacks(
      in_addresses text[], in_identifiers text[], in_providers text[], in_accounts text[], in_namespaces text[],
      in_workflow_ids text[], in_bodies bytea[], in_rows integer[],
      told_of integer, most_rows integer, most_bytes bigint, most_rows_a_day integer, most_bytes_a_day bigint
    ) returns text[] language plpgsql security definer set search_path = pg_catalog, pg_temp
    -- A plan that was made while a table was small is used when it is large.
    set enable_seqscan = off as $$
    declare
      answers text[];
      has_news boolean;
      -- Not current_date, which a session may move.
      today date := clock_timestamp() at time zone 'UTC';
    begin
      -- Its caller may be one who has broken into the receiver: no limit is larger than the configuration's largest
      -- (maxQuota), as it was when this was written: a larger one needs a migration.
      told_of := least(told_of, 1000);
      most_rows := least(most_rows, 10000);
      most_bytes := least(most_bytes, 100000000);
      most_rows_a_day := least(most_rows_a_day, 500000);
      most_bytes_a_day := least(most_bytes_a_day, 1000000000);

      -- A lock on the count of a process would stop what comes to its account's address.
      if exists (select from unnest(in_addresses) as a (address) where a.address like 'account:%') then
        raise exception 'this address is the relay''s';
      end if;

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
          in_bodies, in_rows) with ordinality
          as a (address, identifier, provider, account, namespace, workflow_id, body, allowed, n)),
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
          from (select q.account is null or q.counted_on = today as is_today) as day) as base
        window run as (partition by f.address order by f.n)),
      judged as (
        select c.*, case
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
          rows = s.rows + case when q.account is null or q.counted_on = today then q.rows else 0 end,
          bytes = s.bytes + case when q.account is null or q.counted_on = today then q.bytes else 0 end,
          counted_on = today,
          surplus = q.surplus + s.surplus,
          refused = s.refused + case when q.account is null or q.counted_on = today then q.refused else 0 end,
          wake_at = case when q.account is null and s.is_told and s.surplus + s.refused > 0
            then trustflow.next_wake(q.wake_at, q.wakes, q.woken_at) else q.wake_at end
        from sums s where q.address = s.address and s.rows + s.refused > 0)
      -- Every copy of a callback that was refused is refused; of one that was stored, all but the first are duplicates.
      select array_agg(case when j.answer = 'full' then 'full' when j.n = a.n and s.address is not null then 'stored'
          else 'duplicate' end order by a.n),
        coalesce(bool_or(s.state <> 'surplus'), false)
      into answers, has_news
      from arrival a
      left join judged j on j.address = a.address and j.identifier = a.identifier
      left join stored s on s.address = j.address and s.identifier = j.identifier;
      if has_news then perform pg_notify('trustflow_callbacks', ''); end if;
      return answers;
    end $$;
    revoke all on function trustflow.store_callbacks from public;

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
    -- The newest conferences of an account.
    create index correlations_newest on trustflow.correlations (provider, account, created_at);

    -- What a look-up of an account is worth (docs/reading-the-specification.md §1): whether it has found one of our own items. One row
    -- for each account, operation, form of the item and configuration of the look-up.
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

    -- Which process owns which document, and when that process ended, from which the retention counts. Ids and kinds alone: no content,
    -- no name.
    create table trustflow.documents (
      -- The 32 hex digits of document:<id>.
      id text not null,
      namespace text not null,
      workflow_id text not null,
      kind text not null,
      owned_at timestamptz not null default clock_timestamp(),
      ended_at timestamptz,
      primary key (id, namespace, workflow_id)
    );
    create index documents_by_process on trustflow.documents (namespace, workflow_id);
    -- Uploads that no process took (docs/decisions/0018). They stay readable until they are removed.
    create table trustflow.document_quarantine (
      id text primary key,
      stored_at timestamptz not null,
      quarantined_at timestamptz not null default clock_timestamp(),
      -- A person took it out: it is never put back.
      released_at timestamptz
    );

    -- Erasures: who erased which process, when, what kind of thing and how many; never content. A process with a row here takes no effect
    -- any more.
    create table trustflow.erasures (
      id bigint generated always as identity primary key,
      namespace text not null,
      workflow_id text not null,
      erased_by text not null,
      begun_at timestamptz not null default clock_timestamp(),
      -- Null until everything is gone: whoever calls again goes on.
      finished_at timestamptz,
      -- Kind of document and how many.
      documents jsonb not null default '{}',
      callbacks integer not null default 0,
      effects integer not null default 0,
      runs integer not null default 0,
      -- The operator's signature: operator, at, value (docs/design.md §6). Null where no operator's key was there, and none was required.
      proof jsonb
    );
    create index erasures_by_process on trustflow.erasures (namespace, workflow_id);
    create unique index erasures_under_way on trustflow.erasures (namespace, workflow_id) where finished_at is null;

    -- Batches of notices (docs/reading-the-specification.md §4): what is known of each notice. No personal data: a notice is its id at
    -- the provider, a recipient its line in the list. A callback about a notice says here which notice it is about.
    create table trustflow.batches (
      id bigint generated always as identity primary key,
      namespace text not null,
      workflow_id text not null,
      recipients integer not null,
      -- Where the reading of the provider's list of recipients goes on; and when it has come to the end of it.
      cursor jsonb,
      listed_at timestamptz,
      -- When all open notices were last read.
      swept_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      -- When the reading of the list last began at its first page.
      list_began_at timestamptz,
      -- Recipients without a notice: on the pages so far, and in the whole list as it was last read.
      unnoticed_so_far integer not null default 0,
      unnoticed integer,
      -- The archive of the affidavits, once it is made: its parts are gone then, and it cannot be made again.
      archive_document text,
      archive_sha256 text,
      archive_size bigint,
      archive_media_type text,
      unique (namespace, workflow_id)
    );
    -- Ids of notices are kept in lower case, because they are compared without case.
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
      confirmed boolean not null generated always as (coalesce(read_state = 'Closed', false)) stored,
      -- Whether the provider's list of recipients names it.
      listed boolean not null default false,
      -- The id as the provider spells it, where that is not in lower case: it is put so into a call.
      shown_id text,
      -- When the read was asked that showed read_state.
      shown_at timestamptz,
      -- By a read, or by a callback that no later read contradicts.
      closed boolean not null generated always as (
        coalesce(read_state = 'Closed', false)
        or (coalesce(reported = 'Closed', false)
          and not coalesce(shown_at >= heard_at, false))) stored,
      -- Whether the query says the state: once it has shown the end, and else where it is newer than the callback.
      is_read boolean not null generated always as (case
        when read_state is null then false
        when reported is null or read_state = 'Closed' then true
        else coalesce(shown_at >= heard_at, true) end) stored,
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

    -- Secrets that events carry, such as the token of a video call (P1 §6.1): sealed for the workers by the relay, before it signals
    -- the event (docs/decisions/0033).
    create table trustflow.event_secrets (
      namespace text not null,
      workflow_id text not null,
      event_id text not null,
      sealed text not null,
      stored_at timestamptz not null default clock_timestamp(),
      tried_at timestamptz,
      -- When the provider has shown the process's own data for it.
      opened_at timestamptz,
      primary key (namespace, workflow_id, event_id)
    );
    -- Tokens of callbacks that name no process: sealed by the relay for the workers, which find the conference that each opens
    -- (docs/decisions/0033).
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

    -- What webhooks tell of processes (docs/webhooks.md): ids and words of ours alone. The id stands for namespace, workflow id, run, type
    -- and attention, so that an event that is found again is not stored again.
    create table trustflow.process_events (
      id text primary key,
      namespace text not null,
      workflow_id text not null,
      type text not null,
      happened_at timestamptz not null,
      data jsonb not null,
      stored_at timestamptz not null default clock_timestamp()
    );
    create index process_events_by_process on trustflow.process_events (namespace, workflow_id);
    -- How far the processes of a namespace are looked through, and since when.
    create table trustflow.event_positions (
      namespace text primary key,
      began_at timestamptz not null,
      position timestamptz not null
    );
    -- Queue and log of the webhooks: a row for each event and endpoint. One without an event is a test of its endpoint.
    create table trustflow.webhook_deliveries (
      id bigint generated always as identity primary key,
      event text references trustflow.process_events on delete cascade,
      -- Whose relays send it: those of another namespace may have an endpoint of the same name.
      namespace text not null,
      endpoint text not null,
      state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
      -- Failed attempts since the first one, or since a replay.
      tries integer not null default 0,
      -- When it is sent next; while it is being sent, the end of the lease.
      due_at timestamptz not null default clock_timestamp(),
      claim uuid,
      -- Each attempt: when it began, how long it took, and the status or the problem.
      attempts jsonb not null default '[]',
      created_at timestamptz not null default clock_timestamp(),
      unique (event, endpoint)
    );
    create index webhook_deliveries_due on trustflow.webhook_deliveries (namespace, endpoint, (event is null) desc, due_at)
      where state = 'waiting';
    create index webhook_deliveries_failed on trustflow.webhook_deliveries (namespace, endpoint) where state = 'failed';
    create index webhook_tests on trustflow.webhook_deliveries (created_at) where event is null;

    -- Which namespaces of Temporal belong to this database, each with the id that its server gave it (docs/decisions/0018). migrate
    -- writes them down.
    create table trustflow.namespaces (
      name text primary key,
      -- Of the namespace in Temporal: one of the same name on another server has another one.
      id text not null,
      noted_at timestamptz not null default clock_timestamp()
    );

    -- When \`trustflow cleanup\` last reached its end: one row, which counts from the migration where none has.
    create table trustflow.cleanups (
      is_only boolean primary key default true check (is_only),
      ended_at timestamptz not null default clock_timestamp()
    );
    insert into trustflow.cleanups default values;
  `,
};
