// What is stored: in the tables, past all connections, and on the disk.
import { basename } from "node:path";
import type { Config } from "../../src/config/config.js";
import { familyOf } from "../../src/contracts/registry.js";
import { dataKeyId } from "../../src/crypto/data-key.js";
import { isUploadId } from "../../src/documents/document-id.js";
import type { Database } from "./doors/database.js";
import type { Files } from "./doors/files.js";
import type { TemporalServer } from "./temporal/server.js";

/** Whatever a row of a process is called; a body is a thing of its own. Parts of archives are released while a process is open. */
const THINGS = `
  select 'effect ' || token as thing, workflow_id from trustflow.effects
  union all select 'callback ' || id, workflow_id from trustflow.callbacks
  union all select 'body of callback ' || id, workflow_id from trustflow.callbacks where body is not null
  union all select 'secret of event ' || event_id, workflow_id from trustflow.event_secrets
  union all select 'reference ' || reference, workflow_id from trustflow.correlations
  union all select 'batch ' || id, workflow_id from trustflow.batches
  union all select 'notice ' || evidence_id, workflow_id from trustflow.batch_items join trustflow.batches on id = batch
  union all select 'document ' || id, workflow_id from trustflow.documents where kind <> 'archive'`;

/** The ids of the open processes and of their families. */
export function familiesOpen({ runs }: TemporalServer): Set<string> {
  const open = [...runs.values()].filter(({ isOpen }) => isOpen);
  return new Set(open.flatMap(({ id }) => familyOf(id)));
}

/** Each thing that is stored of these processes, with the process. */
export async function storedOf(
  database: Database,
  files: Files,
  workflowIds: Set<string>,
): Promise<Map<string, string>> {
  const rows = await database.rows<{ thing: string; workflow_id: string }>(
    `select * from (${THINGS}) as things where workflow_id = any($1)`,
    [[...workflowIds]],
  );
  const stored = new Map(rows.map(({ thing, workflow_id: of }) => [`${thing} of ${of}`, of]));
  const kept = documentFiles(files);
  for (const { thing, workflow_id: of } of rows) {
    const id = /^document (\w+)$/.exec(thing)?.[1];
    if (id !== undefined && kept.has(id)) stored.set(`file ${id} of ${of}`, of);
  }
  return stored;
}

/** The ids of the documents on the disk, each with the time at which it was written. */
export function documentFiles(files: Files): Map<string, number> {
  const found = new Map<string, number>();
  for (const path of files.paths()) {
    const id = /\/documents\/[0-9a-f]{2}\/([0-9a-f]{32})$/.exec(path)?.[1];
    if (id !== undefined) found.set(id, files.stat(path).mtimeMs);
  }
  return found;
}

const DAY_MS = 86_400_000;

type Retention = Pick<Config["retention"], "documentOrphanDays" | "quarantineDays">;

/** Of what was stored before this time; right after a clean-up. */
export async function problemsOfDocuments(
  database: Database,
  files: Files,
  { before, retention }: { before: number; retention: Retention },
): Promise<string[]> {
  const now = files.world.now;
  const kept = documentFiles(files);
  const owned = await database.rows<{ id: string; of: string; kind: string; at: Date }>(
    "select id, workflow_id as of, kind, owned_at as at from trustflow.documents",
  );
  const quarantined = await database.rows<{ id: string; at: Date }>(
    "select id, quarantined_at as at from trustflow.document_quarantine",
  );
  const owners = new Set(owned.map(({ id }) => id));
  const since = new Map(quarantined.map(({ id, at }) => [id, at.getTime()]));
  const problems = owned
    .filter(({ id, at }) => at.getTime() < before && !kept.has(id))
    .map(({ id, of, kind }) => `${of} owns document:${id} (${kind}), which is not there`);
  for (const [id, storedAt] of kept) {
    if (owners.has(id) || storedAt >= before) continue;
    const quarantinedAt = since.get(id);
    const isDue =
      quarantinedAt === undefined
        ? now - storedAt > (retention.documentOrphanDays + 1) * DAY_MS
        : now - quarantinedAt > (retention.quarantineDays + 1) * DAY_MS;
    if (!isUploadId(id)) problems.push(`document:${id} was made by a process, and nobody owns it`);
    else if (isDue)
      problems.push(`document:${id} was uploaded, and nobody has taken or deleted it`);
  }
  return problems;
}

/** Documents that these processes own, and no other one. */
export async function ownDocuments(database: Database, workflowIds: string[]): Promise<string[]> {
  const rows = await database.rows<{ id: string }>(
    `select id from trustflow.documents group by id having bool_and(workflow_id = any($1))`,
    [workflowIds],
  );
  return rows.map(({ id }) => id);
}

/** What would say something about an erased process: the record of its effects and callbacks stays, without content. */
const CONTENTS = `
  select 'the answer to effect ' || token as thing, workflow_id from trustflow.effects
    where sealed_answer is not null or sealed_decisions is not null or digest is not null
  union all select 'callback ' || id, workflow_id from trustflow.callbacks
    where body is not null or evidence_id is not null or reference is not null or detail is not null
  union all select 'the token of callback ' || c.id, workflow_id
    from trustflow.unaddressed_tokens t join trustflow.callbacks c on c.id = t.callback where t.sealed is not null
  union all select 'secret of event ' || event_id, workflow_id from trustflow.event_secrets
  union all select 'reference ' || reference, workflow_id from trustflow.correlations
  union all select 'batch ' || id, workflow_id from trustflow.batches
  union all select 'document ' || id, workflow_id from trustflow.documents`;

/** What is left of erased processes. */
export async function remainsOf(
  { database, files, temporal }: { database: Database; files: Files; temporal: TemporalServer },
  workflowIds: string[],
): Promise<string[]> {
  const rows = await database.rows<{ thing: string; workflow_id: string }>(
    `select * from (${CONTENTS}) as contents where workflow_id = any($1)`,
    [workflowIds],
  );
  const remains = rows.map(({ thing, workflow_id: of }) => `${thing} of ${of}`);
  for (const { id } of temporal.runs.values())
    if (workflowIds.includes(id)) remains.push(`the history of ${id}`);
  for (const workflowId of workflowIds) {
    const keyId = dataKeyId({ namespace: temporal.namespace, workflowId });
    for (const path of files.paths().filter((one) => files.stat(one).isFile())) {
      const bytes = files.readFile(path) as Buffer;
      const isKey = path.endsWith(`/${keyId}`);
      // An upload that a second start has made in vain is sealed with the key that is gone; it goes as an orphan.
      const isUpload = isUploadId(basename(path));
      if (isKey ? !bytes.equals(ERASED) : !isUpload && bytes.includes(keyId))
        remains.push(`${isKey ? "the data key" : path} of ${workflowId}`);
    }
  }
  return remains;
}

/** In the place of an erased key. */
const ERASED = Buffer.from("erased");
