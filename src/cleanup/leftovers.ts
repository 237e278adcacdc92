// Removes what killed workers have left: documents that were being written, and parts of a batch's archive that were stored and not added
// to it. Nothing reads them, whether their process is open or not; a day later no attempt works on them any more.
import { isUploadId } from "../documents/document-id.js";
import type { DocumentStore } from "../documents/store.js";
import type { ProcessKey } from "../crypto/data-key.js";
import type { Pool, PoolClient } from "../postgres/pool.js";
import { releaseIf } from "./release-documents.js";

export interface Leftovers {
  /** Files of the document store. */
  unfinishedFiles: number;
  /** Documents, each a part of an archive. */
  archiveParts: number;
}

export interface LeftoverOptions {
  pool: Pool;
  /** Present if this machine can reach the store; without it nothing is deleted. */
  documents?: DocumentStore | undefined;
  before: Date;
  dryRun: boolean;
}

interface Part extends ProcessKey {
  id: string;
}

export async function removeLeftovers(options: LeftoverOptions): Promise<Leftovers> {
  const { pool, documents, before, dryRun } = options;
  if (!documents) return { unfinishedFiles: 0, archiveParts: 0 };
  const unfinishedFiles = await documents.removeUnfinished(before, { dryRun });
  const parts = await looseParts(pool, before);
  if (dryRun) return { unfinishedFiles, archiveParts: parts.length };
  let archiveParts = 0;
  for (const part of parts) {
    const isLoose = async (client: PoolClient) =>
      (await looseParts(client, before, part.id)).length > 0;
    if (await releaseIf(pool, documents, part, isLoose)) archiveParts += 1;
  }
  return { unfinishedFiles, archiveParts };
}

/** A part has the id of an upload, the archive itself one that is derived. */
async function looseParts(pool: Pool | PoolClient, before: Date, id?: string): Promise<Part[]> {
  const { rows } = await pool.query<Part>(
    `select id, namespace, workflow_id as "workflowId" from trustflow.documents d
     where kind = 'archive' and owned_at < $1 and ($2::text is null or id = $2)
       and not exists (select from trustflow.batch_parts p where p.document = 'document:' || d.id)
     order by id`,
    [before, id ?? null],
  );
  return rows.filter((row) => isUploadId(row.id));
}
