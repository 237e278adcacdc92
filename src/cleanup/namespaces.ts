// The namespaces whose processes share the document store, as far as the database and the configuration know.
import type { Pool } from "../postgres/pool.js";

/** It goes through indexes from one name to the next. Callbacks have no such index; a process that has any has effects. */
export async function namespacesOf(
  pool: Pick<Pool, "query">,
  configured: string,
): Promise<string[]> {
  const { rows } = await pool.query<{ namespace: string }>(
    `with recursive known (namespace) as (
       select least(
         (select min(namespace) from trustflow.effects),
         (select min(namespace) from trustflow.documents))
       union all
       select least(
         (select min(e.namespace) from trustflow.effects e where e.namespace > known.namespace),
         (select min(d.namespace) from trustflow.documents d where d.namespace > known.namespace))
       from known where known.namespace is not null)
     select namespace from known where namespace is not null`,
  );
  return [...new Set([configured, ...rows.map(({ namespace }) => namespace)])];
}
