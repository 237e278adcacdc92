// The document folder belongs to the database, else a deletion would succeed where nothing is.
import type { DocumentStore } from "../documents/store.js";
import { ConfigurationError } from "../errors/index.js";
import type { Pool } from "../postgres/pool.js";

/** Throws where a process, or one of the given ones, owns documents, and the folder has no data key: it is another one, or is not mounted. */
export async function requireOwnStore(
  pool: Pool,
  documents: DocumentStore,
  workflowIds: string[] | null = null,
): Promise<void> {
  if (await documents.dataKeys.haveAny()) return;
  const { rows } = await pool.query(
    "select from trustflow.documents where $1::text[] is null or workflow_id = any($1) limit 1",
    [workflowIds],
  );
  if (rows.length > 0)
    throw new ConfigurationError([
      "documents.directory has no data key, and processes own documents: it is not the store of this database, or it is not mounted",
    ]);
}
