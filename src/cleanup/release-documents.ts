// A process lets go of its documents: one that another process owns too stays, sealed with that one's key; any other is removed.
import type { DocumentStore } from "../documents/store.js";
import type { Pool } from "../postgres/pool.js";
import type { Process } from "./erasure-record.js";

/** The other processes that own the document, the first owner first. */
export async function otherOwners(
  pool: Pool,
  id: string,
  { namespace, workflowId }: Process,
): Promise<Process[]> {
  const { rows } = await pool.query<Process>(
    `select namespace, workflow_id as "workflowId" from trustflow.documents
     where id = $1 and (namespace, workflow_id) <> ($2, $3) order by owned_at, namespace, workflow_id`,
    [id, namespace, workflowId],
  );
  return rows;
}

/** Its owner's row stays, until the caller has removed it too: then a crash between the two only does it again. */
export async function letGo(
  pool: Pool,
  documents: DocumentStore,
  id: string,
  process: Process,
): Promise<"removed" | "kept"> {
  const [heir] = await otherOwners(pool, id, process);
  if (heir === undefined) await documents.delete(`document:${id}`);
  else await documents.handOver(`document:${id}`, process, heir);
  return heir === undefined ? "removed" : "kept";
}
