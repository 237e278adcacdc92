// The database roles of a local stack: each may log in, with a password that follows from that of the owner.
import { createHmac } from "node:crypto";
import pg from "pg";
import { databaseRoles, loginOf } from "trustflow/internal/postgres/roles.js";
import type { DatabaseRole } from "trustflow/internal/postgres/roles.js";

/** `local` is for a person at this machine, who reads and cleans up alike. */
export type LocalRole = DatabaseRole | "local";

/** Makes what is missing, as the owner; returns the URL of each. */
export async function openDatabaseRoles(ownerUrl: string): Promise<Record<LocalRole, string>> {
  const urls = {} as Record<LocalRole, string>;
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    for (const role of [...databaseRoles, "local"] as const) {
      const login = role === "local" ? "trustflow_local" : loginOf(role);
      const url = new URL(ownerUrl);
      url.username = login;
      url.password = createHmac("sha256", new URL(ownerUrl).password).update(role).digest("hex");
      urls[role] = url.href;
      const known = await client.query("select from pg_roles where rolname = $1", [login]);
      if (known.rowCount === 0) await client.query(`create role ${login} login`);
      await client.query(`alter role ${login} password '${url.password}'`);
    }
    await client.query(`grant ${loginOf("operator")}, ${loginOf("cleanup")} to trustflow_local`);
  } finally {
    await client.end();
  }
  return urls;
}
