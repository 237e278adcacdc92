// Which namespaces of Temporal belong to this database, each with the id that its server gave it (docs/decisions/0036). `migrate` writes
// them down.
export const namespaces = {
  name: "0013-namespaces",
  sql: `
    create table trustflow.namespaces (
      name text primary key,
      -- Of the namespace in Temporal: one of the same name on another server has another one.
      id text not null,
      noted_at timestamptz not null default clock_timestamp()
    );
  `,
};
