// Grants each role of a deployment its rights in the database (docs/threat-model.md). There is one PostgreSQL role for each, with a fixed
// name; the administrator of the deployment creates it. `trustflow migrate` grants the rights each time, so that new tables are included.
import { transaction } from "./pool.js";
import type { Pool, PoolClient } from "./pool.js";

import { databaseRoles, loginOf } from "./roles.js";
import type { DatabaseRole } from "./roles.js";

// Any fixed number: two runs that grant the same would stop each other.
const LOCK = 7_318_200_403;

type Grants = Partial<Record<DatabaseRole, string>>;

/** Each table of the schema, and what may be done with it; a role that is not named may do nothing. */
export const tableGrants: Record<string, Grants> = {
  // Names alone; a role that starts asks whether its release fits.
  migrations: Object.fromEntries(databaseRoles.map((role) => [role, "select"])),
  callbacks: {
    // The receiver stores by `store_callbacks` alone. The relay never changes what came, but notes what it is about.
    relay:
      "select, update (namespace, workflow_id, state, reason, detail, attempts, failures, claim, claimed_until, settled_at, evidence_id, kind, event_date, reference)",
    // Only whether one has come for a process.
    worker: "select (namespace, workflow_id, account, reason)",
    // A purge empties bodies, an erasure every trace of what came.
    cleanup:
      "select, update (body, state, reason, detail, claim, claimed_until, settled_at, evidence_id, kind, event_date, reference), delete",
    operator:
      "select, update (state, reason, detail, attempts, failures, claim, claimed_until, settled_at)",
  },
  effects: {
    worker: "select, insert, update",
    cleanup: "select, update (sealed_answer, sealed_decisions, digest), delete",
    operator: "select",
  },
  correlations: {
    worker: "select, insert, update (namespace, workflow_id, created_at)",
    relay: "select",
    cleanup: "select, delete",
    operator: "select",
  },
  // Who stores a secret cannot read it again; who opens it cannot put another one in its place.
  event_secrets: {
    relay: "insert",
    worker: "select, update (tried_at, opened_at)",
    cleanup: "select, delete",
  },
  // A row goes with the wait of its callback.
  unaddressed_tokens: {
    relay: "select (callback, reference, judged_at), insert, delete",
    worker: "select, update (sealed, reference, refused, names_ours, judged_at, due_at)",
    cleanup: "select (callback, provider, account, reference)",
  },
  documents: {
    // A process that runs has no end.
    worker: "select, insert, update (ended_at)",
    cleanup: "select, insert, update, delete",
    operator: "select",
  },
  document_quarantine: {
    worker: "select, delete",
    cleanup: "select, insert, update, delete",
    operator: "select, update (released_at)",
  },
  look_up_proofs: {
    worker: "select, insert, update",
    cleanup: "select, update (sample, next_look_at)",
    operator: "select",
  },
  erasures: {
    worker: "select",
    // Nothing more is told of an erased process.
    relay: "select (namespace, workflow_id)",
    cleanup: "select, insert, update, delete",
    operator: "select",
  },
  process_events: { relay: "select, insert", cleanup: "select, delete", operator: "select" },
  event_positions: { relay: "select, insert, update (position)" },
  webhook_deliveries: {
    relay: "select, insert, update (state, tries, due_at, claim, attempts)",
    cleanup: "select, delete",
    // A row that names no event is a test, so an operator invents none.
    operator: "select, insert (namespace, endpoint), update (state, tries, due_at)",
  },
  batches: {
    worker: "select, insert, update",
    relay: "select",
    cleanup: "select, delete",
    operator: "select",
  },
  batch_items: {
    worker: "select, insert, update",
    relay: "select, insert, update",
    cleanup: "select, delete",
    operator: "select",
  },
  // The parts of an archive are gone when the archive is there.
  batch_parts: {
    worker: "select, insert, delete",
    cleanup: "select, delete",
    operator: "select",
  },
  // The owner alone writes to it: who deletes cannot say himself that Temporal is the right one.
  namespaces: { worker: "select", cleanup: "select", operator: "select" },
  cleanups: { worker: "select", relay: "select", cleanup: "update (ended_at)", operator: "select" },
  callback_addresses: {
    relay: "select, insert, update",
    // To lock a row before its deletion, a role needs the right to update one of its columns.
    cleanup: "select, update (counted_on), delete",
    operator: "select",
  },
};

/** Each function of the schema, and who may call it. */
export const functionGrants: Record<string, readonly DatabaseRole[]> = {
  store_callbacks: ["receiver"],
  next_wake: ["relay"],
};

/** Grants existing roles exactly the rights above, in one transaction; returns their names. */
export function grantRoles(pool: Pool): Promise<DatabaseRole[]> {
  return transaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${LOCK})`);
    return grant(client);
  });
}

async function grant(client: PoolClient): Promise<DatabaseRole[]> {
  const { rows } = await client.query<{ rolname: string }>(
    "select rolname from pg_roles where rolname = any($1)",
    [databaseRoles.map(loginOf)],
  );
  const found = databaseRoles.filter((role) =>
    rows.some(({ rolname }) => rolname === loginOf(role)),
  );
  if (found.length === 0) return [];
  const present = await client.query<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = 'trustflow'::regnamespace and relkind = 'r'
     union all select proname::text from pg_proc where pronamespace = 'trustflow'::regnamespace`,
  );
  const isThere = ([name]: [string, unknown]): boolean =>
    present.rows.some((row) => row.name === name);
  const all = found.map(loginOf).join(", ");
  const statements = [
    // Only the database's owner can. A temporary table takes space, and its name goes before one of ours.
    `do $$ begin execute format('revoke temporary on database %I from public, ${all}', current_database()); end $$`,
    `revoke all on all tables in schema trustflow from public, ${all}`,
    `revoke all on all functions in schema trustflow from public, ${all}`,
    `grant usage on schema trustflow to ${all}`,
    ...Object.entries(tableGrants)
      .filter(isThere)
      .flatMap(([table, grants]) =>
        found.flatMap((role) =>
          grants[role] ? [`grant ${grants[role]} on trustflow.${table} to ${loginOf(role)}`] : [],
        ),
      ),
    ...Object.entries(functionGrants)
      .filter(isThere)
      .flatMap(([name, roles]) =>
        found
          .filter((role) => roles.includes(role))
          .map((role) => `grant execute on function trustflow.${name} to ${loginOf(role)}`),
      ),
  ];
  await client.query(statements.join(";\n"));
  return found;
}

/** The user of this connection, where it may do whatever the owner of the tables may. */
export async function ownerUser(pool: Pool): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string; owns: boolean }>(
    `select current_user as name, pg_has_role(nspowner, 'usage') as owns
     from pg_namespace where nspname = 'trustflow'`,
  );
  return rows[0]?.owns ? rows[0].name : undefined;
}
