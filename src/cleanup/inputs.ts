// Finds documents that the input of a process names without an owner row: its first activity has not run, or the database was
// restored from a backup. A found document is kept; a document that is not found proves nothing.
import type { Client } from "@temporalio/client";
import pLimit from "p-limit";
import { processes } from "../contracts/registry.js";
import { schemasOf } from "../contracts/schemas.js";
import type { ProcessKey } from "../crypto/data-key.js";
import type { KeyRing } from "../crypto/key-ring.js";
import { addOwner } from "../journal/ownership.js";
import type { Pool } from "../postgres/pool.js";
import { EncryptionCodec } from "../temporal/codec/codec.js";
import { firstInput } from "../temporal/visibility/first-input.js";
import { isOpen, ofTypes } from "../temporal/visibility/query.js";
import { listExecutions } from "../temporal/visibility/stuck.js";
import type { ListedExecution } from "../temporal/visibility/stuck.js";
import { erasuresOf } from "./erasure-record.js";
import { endOf } from "./executions.js";
import type { End } from "./executions.js";
import { ownedSince } from "./quarantine.js";

export interface TakenDocuments extends ProcessKey {
  /** The documents to check. */
  ids: string[];
}

/** The namespaces whose processes share the document store. */
export interface DocumentUsers {
  /** Returns the client for each namespace. */
  clients: Client[];
  /** Throws where the namespace is not that of the database: its processes, and what they need, are unknown. */
  requireOwn?(namespace: string): Promise<void>;
  codecRing: KeyRing;
  pool: Pool;
}

interface Suspects {
  has(id: string): boolean;
}

const CONCURRENCY = 8;
/** The number of the journal's newest processes that must be in Temporal's list. */
const PROBES = 20;
const idShape = /document:([0-9a-f]{32})/g;
const withDocuments = processes.filter((name) =>
  JSON.stringify(schemasOf(name).input).includes("^document:"),
);

/**
 * Among the open processes, and with `closedSince` among those too that have ended since then. `problem`: a list of processes is not
 * to be trusted. A list or a history that cannot be read is an error.
 */
export async function findTakenDocuments(
  { clients, requireOwn, codecRing, pool }: DocumentUsers,
  suspects: Suspects,
  closedSince?: Date,
): Promise<{ taken: TakenDocuments[]; problem?: string }> {
  const codec = new EncryptionCodec(codecRing);
  const since = await ownedSince(pool);
  const taken: TakenDocuments[] = [];
  for (const client of clients) {
    await requireOwn?.(client.options.namespace);
    const runs = await listedRuns(client, closedSince);
    const missed = await missedIn(client, pool, runs, closedSince);
    if (missed !== undefined)
      return {
        taken: [],
        problem: `Temporal's list of ${client.options.namespace} lacks ${missed}`,
      };
    const unread = await withoutRows(client, pool, runs, since);
    const read = (run: ListedExecution) => takenBy(client, codec, run, suspects);
    taken.push(...(await pLimit(CONCURRENCY).map(unread, read)).flat());
  }
  const needed: TakenDocuments[] = [];
  for (const one of taken) {
    // A start with an erased id is refused, so it needs no documents.
    const erasures = await erasuresOf(pool, one);
    if (!erasures.some(({ finishedAt }) => finishedAt)) needed.push(one);
  }
  return { taken: needed };
}

/** Writes the owner rows. */
export async function recordOwners(pool: Pool, taken: TakenDocuments[]): Promise<void> {
  for (const { ids, ...owner } of taken)
    await addOwner(
      pool,
      owner,
      ids.map((id) => ({ id, kind: "submitted" })),
    );
}

async function listedRuns(
  { connection, options: { namespace } }: Client,
  closedSince?: Date,
): Promise<ListedExecution[]> {
  const orClosed = closedSince ? ` OR CloseTime > "${closedSince.toISOString()}"` : "";
  const query = `${ofTypes(withDocuments)} AND (${isOpen}${orClosed})`;
  const runs: ListedExecution[] = [];
  for await (const run of listExecutions({ connection, namespace }, query)) runs.push(run);
  return runs;
}

async function takenBy(
  client: Client,
  codec: EncryptionCodec,
  { workflowId, runId }: ListedExecution,
  suspects: Suspects,
): Promise<TakenDocuments[]> {
  const input = await firstInput(client, codec, workflowId, runId);
  const named = [...JSON.stringify(input ?? null).matchAll(idShape)].map(([, id = ""]) => id);
  const ids = named.filter((id) => suspects.has(id));
  return ids.length > 0 ? [{ namespace: client.options.namespace, workflowId, ids }] : [];
}

/** A process that the journal has begun recently and Temporal has, but does not list: the list is empty or lags far behind. */
async function missedIn(
  client: Client,
  pool: Pool,
  runs: ListedExecution[],
  closedSince?: Date,
): Promise<string | undefined> {
  const listed = new Set(runs.map(({ workflowId }) => workflowId));
  const isListed = (end: End) => (closedSince ? end !== undefined : end === "open");
  const { rows } = await pool.query<{ workflowId: string }>(
    `select workflow_id as "workflowId" from trustflow.effects
     where namespace = $1 and split_part(workflow_id, '/', 1) = any($2::text[])
       and created_at between $3 and clock_timestamp() - interval '5 minutes'
       and seq > (select max(seq) from trustflow.effects) - 20000
     group by 1 order by max(seq) desc limit $4`,
    [client.options.namespace, withDocuments, closedSince ?? new Date(0), PROBES],
  );
  for (const { workflowId } of rows)
    if (!listed.has(workflowId) && isListed(await endOf(client, workflowId))) return workflowId;
  return undefined;
}

/**
 * The runs of which the rows may lack a document of their input. They lack none where the run is younger than the tables and has taken an
 * effect: a process owns all that its input names by then. Rows of an earlier run under the id say nothing.
 */
async function withoutRows(
  { options: { namespace } }: Client,
  pool: Pool,
  runs: ListedExecution[],
  since: Date,
): Promise<ListedExecution[]> {
  const { rows } = await pool.query<{ workflowId: string; at: Date }>(
    `select workflow_id as "workflowId", least(max(d.owned_at), max(e.created_at)) as at
     from trustflow.documents d join trustflow.effects e using (namespace, workflow_id)
     where namespace = $1 and workflow_id = any($2::text[]) and d.kind = 'submitted' and e.provider is not null group by 1`,
    [namespace, runs.map(({ workflowId }) => workflowId)],
  );
  const ownedAt = new Map(rows.map(({ workflowId, at }) => [workflowId, at]));
  return runs.filter(({ workflowId, startedAt }) => {
    const at = ownedAt.get(workflowId);
    return !(startedAt && at && startedAt >= since && at >= startedAt);
  });
}
