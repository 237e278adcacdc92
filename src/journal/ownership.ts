// A document may have several owners (docs/decisions/0018). An owner row is committed before the document is used or its bytes are stored,
// so a process never has a document that it does not own.
import type { ProcessKey } from "../crypto/data-key.js";
import type { Pool } from "../postgres/pool.js";

/**
 * `attachment`: as the provider gave it back; `video`: an identity video and the evidences that go with it; `report`, `archive`: of
 * the recipients of a batch, and of their affidavits; `conference`, `audit`: of a video call; `answer`: what a wallet answered to the
 * start of a flow.
 */
export const documentKinds = [
  "submitted",
  "affidavit",
  "attachment",
  "contract",
  "signed",
  "video",
  "report",
  "archive",
  "conference",
  "audit",
  "answer",
] as const;
export type DocumentKind = (typeof documentKinds)[number];

export interface OwnedDocument {
  /** It is the 32 hex digits of `document:<id>`. */
  id: string;
  kind: DocumentKind;
}

/**
 * Each document has a lock of this number. A process that uses the document holds it shared until the commit; a deletion holds it
 * exclusively.
 */
export const documentLock = (id: string) => `hashtextextended(${id}, 0)`;

/**
 * The SQL that writes the owners. It takes the locks in a fixed order and waits for a deletion of one of these documents. A
 * document in quarantine is taken out of it. The process runs, so a stored end of it was that of an earlier run. The end goes once all
 * locks are held: a deletion that finds the process open writes to the same rows. An erased process becomes no owner: only an attempt that
 * outlives it asks.
 */
export const ownersInsert = (namespace: string, workflowId: string, ids: string, kinds: string) =>
  `given as (
     select id, kind, pg_advisory_xact_lock_shared(${documentLock("id")})
     from unnest(${ids}::text[], ${kinds}::text[]) as given (id, kind) order by id),
   owned as (
     insert into trustflow.documents (id, namespace, workflow_id, kind)
     select id, ${namespace}::text, ${workflowId}::text, kind from given
     where not exists (select from trustflow.erasures
       where namespace = ${namespace} and workflow_id = ${workflowId} and finished_at is not null)
     on conflict do nothing),
   reopened as (
     update trustflow.documents set ended_at = null
     where namespace = ${namespace} and workflow_id = ${workflowId} and ended_at is not null
       and (select count(*) from given) > 0),
   released as (delete from trustflow.document_quarantine where id = any(${ids}::text[]))`;

/** Returns the last two parameters of `ownersInsert`. */
export function columnsOf(documents: OwnedDocument[]): [ids: string[], kinds: DocumentKind[]] {
  return [documents.map(({ id }) => id), documents.map(({ kind }) => kind)];
}

/**
 * Makes the process an owner of these documents; idempotent. Call it before they are read, and before their bytes are stored.
 */
export async function addOwner(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
  documents: OwnedDocument[],
): Promise<void> {
  if (documents.length === 0) return;
  await pool.query(`with ${ownersInsert("$1", "$2", "$3", "$4")} select`, [
    namespace,
    workflowId,
    ...columnsOf(documents),
  ]);
}

/** Returns the newest first. */
export async function ownedOf(
  pool: Pool,
  { namespace, workflowId }: ProcessKey,
  kind: DocumentKind,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from trustflow.documents
     where namespace = $1 and workflow_id = $2 and kind = $3 order by owned_at desc`,
    [namespace, workflowId, kind],
  );
  return rows.map(({ id }) => id);
}
