// Releases the documents of a process: a document that another process also owns is kept and sealed with that process's key;
// any other is deleted. A damaged one stays as it is: nobody can read it, and it must not hold up everything else.
import { ErasedKeyError } from "../crypto/errors.js";
import { DocumentCorruptError, DocumentErasedError } from "../errors/index.js";
import type { DocumentStore } from "../documents/store.js";
import { documentLock } from "../journal/ownership.js";
import { transaction } from "../postgres/pool.js";
import type { Pool, PoolClient } from "../postgres/pool.js";
import type { ProcessKey } from "../crypto/data-key.js";

/** A document that could not be sealed with the key of its next owner. */
export interface Damaged {
  uri: string;
  /** The workflow id of the next owner. */
  owner: string;
  problem: string;
}

/** The first owner comes first. An erased process no longer needs the document. */
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

/**
 * Runs in a transaction. A process that begins to use the document waits for the commit; one that came first is among the
 * owners.
 */
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

/** Releases the document of the process if, under its lock, that is still due; returns whether it was. */
export function releaseIf(
  pool: Pool,
  documents: DocumentStore,
  { id, ...processKey }: ProcessKey & { id: string },
  isDue: (client: PoolClient) => Promise<boolean>,
  onDamaged: (damaged: Damaged) => void,
): Promise<boolean> {
  return withDocumentLock(pool, id, async (client) => {
    const isStillDue = await isDue(client);
    if (isStillDue) await releaseDocument(client, documents, id, processKey, onDamaged);
    return isStillDue;
  });
}

/** Names the document where it cannot be read. */
export async function unlessDamaged(
  reading: Promise<void>,
  about: Omit<Damaged, "problem">,
  onDamaged: (damaged: Damaged) => void,
): Promise<void> {
  await reading.catch((error: unknown) => {
    if (!isUnreadable(error)) throw error;
    onDamaged({ ...about, problem: error.message });
  });
}

/** A restore may bring back a document, or owners, whose keys stay erased. */
function isUnreadable(error: unknown): error is Error {
  return [DocumentCorruptError, DocumentErasedError, ErasedKeyError].some(
    (kind) => error instanceof kind,
  );
}

/**
 * Call it inside `withDocumentLock`. The owner's row is deleted with the commit, so after an earlier crash everything is simply
 * repeated.
 */
export async function releaseDocument(
  client: PoolClient,
  documents: DocumentStore,
  id: string,
  processKey: ProcessKey,
  onDamaged: (damaged: Damaged) => void,
): Promise<void> {
  const uri = `document:${id}`;
  const [nextOwner] = await otherOwners(client, id, processKey);
  if (nextOwner === undefined) await documents.delete(uri);
  else {
    const handing = documents.handOver(uri, processKey, nextOwner);
    await unlessDamaged(handing, { uri, owner: nextOwner.workflowId }, onDamaged);
  }
  await client.query(
    "delete from trustflow.documents where id = $1 and namespace = $2 and workflow_id = $3",
    [id, processKey.namespace, processKey.workflowId],
  );
}
