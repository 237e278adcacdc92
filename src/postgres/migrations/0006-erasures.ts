// Erasures: who erased which process, when, what kind of thing and how many; never content. A process with a row here takes no effect
// any more. Beside it when the process of a document ended, from which the retention of documents counts.
export const erasures = {
  name: "0006-erasures",
  sql: `
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
      runs integer not null default 0
    );
    create index erasures_by_process on trustflow.erasures (namespace, workflow_id);
    create unique index erasures_under_way on trustflow.erasures (namespace, workflow_id) where finished_at is null;
    alter table trustflow.documents add column ended_at timestamptz;
  `,
};
