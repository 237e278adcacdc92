// A process lets go of its documents: one that another process owns too stays, sealed with that one's key; any other is removed.
import type { DocumentStore } from "../documents/store.js";
import { documentLock } from "../journal/ownership.js";
import { transaction } from "../postgres/pool.js";
import type { Pool, PoolClient } from "../postgres/pool.js";
import type { ProcessKey } from "../crypto/data-key.js";

/** The other processes that own the document, the first owner first. One that was erased needs it no more. */
export async function otherOwners(
  pool: Pool | PoolClient,
  id: string,
  { namespace, workflowId }: ProcessKey,
): Promise<ProcessKey[]> {
  const { rows } = await pool.query<ProcessKey>(
    `select namespace, workflow_id as "workflowId" from trustflow.documents d
     where id = $1 and (namespace, workflow_id) <> ($2, $3)
       and not exists (select 1 from trustflow.erasures e
         where e.namespace = d.namespace and e.workflow_id = d.workflow_id and e.finished_at is not null)
     order by owned_at, namespace, workflow_id`,
    [id, namespace, workflowId],
  );
  return rows;
}

/** In a transaction: a process that takes the document meanwhile waits for its commit, one that was first is among the owners. */
export function withDocumentLock<T>(
  pool: Pool,
  id: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return transaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${documentLock("$1")})`, [id]);
    return work(client);
  });
}

/** Inside `holdingDocument`. The owner's row goes with the commit, so that a crash before it only does all of it again. */
export async function releaseDocument(
  client: PoolClient,
  documents: DocumentStore,
  id: string,
  processKey: ProcessKey,
): Promise<void> {
  const [nextOwner] = await otherOwners(client, id, processKey);
  if (nextOwner === undefined) await documents.delete(`document:${id}`);
  else await documents.handOver(`document:${id}`, processKey, nextOwner);
  await client.query(
    "delete from trustflow.documents where id = $1 and namespace = $2 and workflow_id = $3",
    [id, processKey.namespace, processKey.workflowId],
  );
}
