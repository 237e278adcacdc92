// Which process owns which document, and which uploads wait for their removal (docs/decisions/0018). Ids and kinds alone: no
// content, no name.
export const documents = {
  name: "0005-documents",
  sql: `
    create table trustflow.documents (
      -- The 32 hex digits of document:<id>.
      id text not null,
      namespace text not null,
      workflow_id text not null,
      kind text not null,
      owned_at timestamptz not null default clock_timestamp(),
      primary key (id, namespace, workflow_id)
    );
    create index documents_by_process on trustflow.documents (namespace, workflow_id);
    -- Uploads that no process took. They stay readable until they are removed.
    create table trustflow.document_quarantine (
      id text primary key,
      stored_at timestamptz not null,
      quarantined_at timestamptz not null default clock_timestamp(),
      -- A person took it out: it is never put back.
      released_at timestamptz
    );
  `,
};
