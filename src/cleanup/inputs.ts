// Documents that the input of a process names, although no row says that it owns them: its first activity has not run, a worker of
// the release before ran it, or the database was restored from a backup. What is found here is kept; what is not found proves nothing.
import type { Client } from "@temporalio/client";
import { processes } from "../contracts/names.js";
import { schemasOf } from "../contracts/schemas.js";
import type { Owner } from "../journal/ownership.js";
import type { Pool } from "../postgres/pool.js";
import type { EncryptionCodec } from "../temporal/codec.js";
import { firstInput } from "../temporal/first-input.js";
import { isRunning, listExecutions, ofTypes } from "../temporal/stuck.js";
import type { Execution } from "../temporal/stuck.js";
import { isKnown, isOpen } from "./executions.js";
import type { Uploads } from "./quarantine.js";

export interface Taken extends Owner {
  /** Of the suspects. */
  ids: string[];
}

const atOnce = 8;
/** So many of the journal's newest processes must be in Temporal's list. */
const probes = 20;
const idShape = /document:([0-9a-f]{32})/g;
const withDocuments = processes.filter((name) =>
  JSON.stringify(schemasOf(name).input).includes("document:"),
);

/** Among all processes that Temporal remembers, or the open ones alone. `problem`: the list of processes is not to be trusted. A history that cannot be read is an error. */
export async function takenByProcesses(
  client: Client,
  codec: EncryptionCodec,
  pool: Pool,
  suspects: Uploads,
  which: "remembered" | "open" = "remembered",
): Promise<{ taken: Taken[]; problem?: string }> {
  const oldest = new Date(
    Math.min(...[...suspects.values()].map((storedAt) => storedAt.getTime())),
  );
  const closedSince = which === "open" ? "" : ` OR CloseTime > "${oldest.toISOString()}"`;
  const query = `${ofTypes(withDocuments)} AND (${isRunning}${closedSince})`;
  const runs: Execution[] = [];
  const { namespace } = client.options;
  for await (const run of listExecutions({ connection: client.connection, namespace }, query))
    runs.push(run);
  const listed = new Set(runs.map(({ workflowId }) => workflowId));
  const missed = await missedIn(client, pool, oldest, listed, which === "open" ? isOpen : isKnown);
  if (missed !== undefined)
    return { taken: [], problem: `Temporal's list of ${namespace} lacks ${missed}` };
  const owners = await ownersAmong(pool, namespace, runs);
  const unread = runs.filter(({ workflowId }) => !owners.has(workflowId));
  const taken: Taken[] = [];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let run = unread.pop(); run; run = unread.pop()) {
        const input = await firstInput(client, codec, run.workflowId, run.runId);
        const named = [...JSON.stringify(input ?? null).matchAll(idShape)].map(([, id = ""]) => id);
        const ids = named.filter((id) => suspects.has(id));
        if (ids.length > 0) taken.push({ namespace, workflowId: run.workflowId, ids });
      }
    }),
  );
  return { taken };
}

/** One that the journal has begun lately and Temporal knows, but does not list: the list is empty, or far behind. */
async function missedIn(
  client: Client,
  pool: Pool,
  since: Date,
  listed: Set<string>,
  isListed: typeof isKnown,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ workflowId: string }>(
    `select workflow_id as "workflowId" from trustflow.effects
     where namespace = $1 and split_part(workflow_id, '/', 1) = any($2::text[])
       and created_at between $3 and clock_timestamp() - interval '5 minutes'
       and seq > (select max(seq) from trustflow.effects) - 20000
     group by 1 order by max(seq) desc limit $4`,
    [client.options.namespace, withDocuments, since, probes],
  );
  for (const { workflowId } of rows)
    if (!listed.has(workflowId) && (await isListed(client, workflowId))) return workflowId;
  return undefined;
}

/** Only what an input names is a submitted document: a row of another kind does not say that the input's rows are there. */
async function ownersAmong(pool: Pool, namespace: string, runs: Execution[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ workflowId: string }>(
    `select distinct workflow_id as "workflowId" from trustflow.documents
     where namespace = $1 and workflow_id = any($2::text[]) and kind = 'submitted'`,
    [namespace, runs.map(({ workflowId }) => workflowId)],
  );
  return new Set(rows.map(({ workflowId }) => workflowId));
}
