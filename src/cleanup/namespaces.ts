// The namespaces whose processes share the document store, as far as the database and the configuration know.
import type { Pool } from "../postgres/pool.js";

export async function namespacesOf(pool: Pool, configured: string): Promise<string[]> {
  const { rows } = await pool.query<{ namespace: string }>(
    `select namespace from trustflow.effects union select namespace from trustflow.documents union
     select namespace from trustflow.callbacks where namespace is not null`,
  );
  return [...new Set([configured, ...rows.map(({ namespace }) => namespace)])];
}
