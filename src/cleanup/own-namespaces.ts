// Whether Temporal and the database belong together (docs/decisions/0018). An empty server, or another one, says of each process that it
// is gone, or means another process of the same id. So `migrate` writes down the id of each namespace, which no other server has, and
// each command that deletes or resets asks for it first. So does a worker, whose journal says what was sent before.
import type { ConnectionLike } from "@temporalio/client";
import { CommandError, exitCodes } from "../roles/exit-codes.js";
import type { Pool } from "../postgres/pool.js";
import { historyDays } from "../temporal/connection.js";
import { grpcOf, isNotFound, status } from "../temporal/grpc-status.js";
import { endOf } from "./executions.js";

type Temporal = Pick<ConnectionLike, "workflowService">;

const DAY_MS = 86_400_000;
/** So many of the newest processes are looked for in Temporal before its namespace is noted; one that is found is enough. */
const PROBES = 20;

/**
 * Notes the configured namespace, and each other one that the database knows, this connection may read, and that is proven to be ours.
 * Returns those that are new. `accepts`: the configured one also where it replaces another one, or has none of the newest processes.
 */
export async function noteNamespaces(
  pool: Pool,
  temporal: Temporal,
  configured: string,
  accepts: boolean,
): Promise<string[]> {
  const noted: string[] = [];
  for (const namespace of await namespacesOf(pool, configured)) {
    const isConfigured = namespace === configured;
    const { id, absence } = await idOf(temporal, namespace);
    if (id === undefined) {
      if (isConfigured) throw refusal(absence);
      continue;
    }
    const known = await notedId(pool, namespace);
    if (known === id) continue;
    const problem =
      isConfigured && accepts
        ? undefined
        : await foreignBeforeNoting(pool, temporal, namespace, { known, id });
    if (problem !== undefined && isConfigured) throw refusal(problem);
    if (problem !== undefined) continue;
    await pool.query(
      `insert into trustflow.namespaces (name, id) values ($1, $2)
       on conflict (name) do update set id = excluded.id, noted_at = clock_timestamp()`,
      [namespace, id],
    );
    noted.push(namespace);
  }
  return noted;
}

/** Throws unless the namespace is the one that was noted. */
export async function requireOwnNamespace(
  pool: Pool,
  temporal: Temporal,
  namespace: string,
): Promise<void> {
  const problem = await foreignness(pool, temporal, namespace);
  if (problem !== undefined) throw refusal(problem);
}

/** Throws where another one was noted under this name. */
export async function refuseReplaced(
  pool: Pool,
  temporal: Temporal,
  namespace: string,
): Promise<void> {
  if ((await notedId(pool, namespace)) !== undefined)
    await requireOwnNamespace(pool, temporal, namespace);
}

/** Why the namespace is not proven to be that of this database. */
export async function foreignness(
  pool: Pool,
  temporal: Temporal,
  namespace: string,
): Promise<string | undefined> {
  const known = await notedId(pool, namespace);
  if (known === undefined)
    return `the database does not say which namespace "${namespace}" is its own: run "trustflow migrate" with TEMPORAL_NAMESPACE=${namespace}, which reaches both`;
  const { id, absence } = await idOf(temporal, namespace);
  if (id === undefined) return absence;
  return known === id ? undefined : replaced(namespace, { known, id });
}

async function foreignBeforeNoting(
  pool: Pool,
  temporal: Temporal,
  namespace: string,
  { known, id }: { known: string | undefined; id: string },
): Promise<string | undefined> {
  if (known !== undefined) return replaced(namespace, { known, id });
  const days = await historyDays(temporal, namespace);
  const newest = await newestProcesses(pool, namespace, new Date(Date.now() - days * DAY_MS));
  const { workflowService } = temporal;
  for (const workflowId of newest)
    if (await endOf({ workflowService, options: { namespace } }, workflowId)) return undefined;
  if (newest.length === 0) return undefined;
  return `the namespace "${namespace}" has none of the newest ${newest.length} process(es) of the database, such as ${newest[0]}`;
}

const replaced = (namespace: string, { known, id }: { known: string; id: string }) =>
  `the namespace "${namespace}" has the id ${id}, and the database belongs to the one with the id ${known}`;

function refusal(problem: string): CommandError {
  return new CommandError(
    exitCodes.unreachable,
    `Temporal and the database do not belong together: ${problem}. Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and database.url. Only where Temporal was set up anew for this database, run "trustflow migrate --accept-namespace" with that namespace in TEMPORAL_NAMESPACE; with Compose: "docker compose run --rm migrate migrate --create-namespace 90 --accept-namespace".`,
  );
}

/** Processes that ran after `since`, and that no erasure has removed. */
async function newestProcesses(pool: Pool, namespace: string, since: Date): Promise<string[]> {
  const { rows } = await pool.query<{ workflowId: string }>(
    `select workflow_id as "workflowId" from trustflow.effects e
     where namespace = $1 and provider is not null and updated_at > $2
       and seq > (select max(seq) from trustflow.effects) - 20000
       and not exists (select from trustflow.erasures d where d.namespace = e.namespace and d.workflow_id = e.workflow_id)
     group by 1 order by max(seq) desc limit ${PROBES}`,
    [namespace, since],
  );
  return rows.map(({ workflowId }) => workflowId);
}

async function notedId(pool: Pool, namespace: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from trustflow.namespaces where name = $1",
    [namespace],
  );
  return rows[0]?.id;
}

/** `absence` says why Temporal shows no id. */
async function idOf(
  { workflowService }: Temporal,
  namespace: string,
): Promise<{ id: string; absence?: never } | { id?: never; absence: string }> {
  try {
    const { namespaceInfo } = await workflowService.describeNamespace({ namespace });
    if (!namespaceInfo?.id) throw new Error(`Temporal shows no id of the namespace "${namespace}"`);
    return { id: namespaceInfo.id };
  } catch (error) {
    if (isNotFound(error)) return { absence: `Temporal has no namespace "${namespace}"` };
    if (grpcOf(error).code === status.permissionDenied)
      return { absence: `Temporal does not show this connection the namespace "${namespace}"` };
    throw error;
  }
}

/**
 * The namespaces whose processes share the document store, as far as the database and the configuration know. It goes through indexes from
 * one name to the next. Callbacks have no such index; a process that has any has effects.
 */
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
