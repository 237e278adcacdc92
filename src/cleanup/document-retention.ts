// The retention of documents by their kind (docs/decisions/0019): counted from the end of the process, which is written down
// while Temporal still has it. A document of a process whose end nobody knows stays.
import type { Client } from "@temporalio/client";
import type { Config } from "../config.js";
import type { DocumentStore } from "../documents/store.js";
import { documentKinds } from "../journal/ownership.js";
import type { DocumentKind, Owner } from "../journal/ownership.js";
import type { Pool } from "../postgres/pool.js";
import { endOf } from "./executions.js";
import { letGo } from "./release-documents.js";

export interface Expired {
  /** How many were removed, or would be, by their kind. */
  expired: Record<string, number>;
  /** They have a period, but nobody knows when their process ended. */
  unknownEnd: number;
}

export interface RetentionOptions {
  pool: Pool;
  /** Where this machine reaches the store; without it nothing is removed. */
  documents?: DocumentStore | undefined;
  days: Config["retention"]["documents"];
  clientFor(namespace: string): Client;
  dryRun: boolean;
  now: Date;
}

interface Owned extends Owner {
  id: string;
  kind: DocumentKind;
  endedAt: Date | null;
}

const DAY_MS = 86_400_000;
const PARALLEL = 8;

export async function expireDocuments(options: RetentionOptions): Promise<Expired> {
  const { pool, documents, days, clientFor, dryRun, now } = options;
  const ends = await learnEnds(options);
  const report: Expired = { expired: {}, unknownEnd: 0 };
  if (!documents) return report;
  for (const document of await documentsWithPeriod(options)) {
    const endedAt = document.endedAt ?? ends.get(nameOf(document));
    if (endedAt === undefined) continue;
    if (endedAt === null) {
      report.unknownEnd += 1;
      continue;
    }
    const isDue = (end: Date) =>
      now.getTime() - end.getTime() >= (days[keyOf(document.kind)] ?? Infinity) * DAY_MS;
    if (!isDue(endedAt)) continue;
    // It may have been started again since, or have ended later.
    const newest = (await endOf(clientFor(document.namespace), document.workflowId)) ?? endedAt;
    const isOpen = newest === "open";
    if (!dryRun && (isOpen || newest > endedAt))
      await writeEnd(pool, document, isOpen ? null : newest);
    if (isOpen || !isDue(newest)) continue;
    report.expired[document.kind] = (report.expired[document.kind] ?? 0) + 1;
    if (!dryRun) await remove(pool, documents, document);
  }
  return report;
}

/** The ends of the processes of which none is written down; null: nobody knows it, absent: it is open. */
async function learnEnds(options: RetentionOptions): Promise<Map<string, Date | null>> {
  const { pool, clientFor, dryRun } = options;
  const { rows } = await pool.query<Owner>(
    `select distinct namespace, workflow_id as "workflowId" from trustflow.documents where ended_at is null`,
  );
  const ends = new Map<string, Date | null>();
  const learn = async (process: Owner): Promise<void> => {
    const end = await endOf(clientFor(process.namespace), process.workflowId);
    if (end === "open") return;
    ends.set(nameOf(process), end ?? null);
    if (end && !dryRun) await writeEnd(pool, process, end);
  };
  for (let at = 0; at < rows.length; at += PARALLEL)
    await Promise.all(rows.slice(at, at + PARALLEL).map(learn));
  return ends;
}

async function writeEnd(pool: Pool, process: Owner, end: Date | null): Promise<void> {
  await pool.query(
    "update trustflow.documents set ended_at = $3 where namespace = $1 and workflow_id = $2",
    [process.namespace, process.workflowId, end],
  );
}

/** Those that may be due. */
async function documentsWithPeriod({ pool, days, now }: RetentionOptions): Promise<Owned[]> {
  const shortest = Math.min(...Object.values(days).map((period) => period ?? Infinity));
  if (shortest === Infinity) return [];
  const { rows } = await pool.query<Owned>(
    `select id, namespace, workflow_id as "workflowId", kind, ended_at as "endedAt" from trustflow.documents
     where kind = any($1) and (ended_at is null or ended_at < $2) order by namespace, workflow_id, id`,
    [
      documentKinds.filter((kind) => days[keyOf(kind)] !== undefined),
      new Date(now.getTime() - shortest * DAY_MS),
    ],
  );
  return rows;
}

/** Another process that owns it too keeps it. The row goes last, so that a crash between the two only does it again. */
async function remove(pool: Pool, documents: DocumentStore, document: Owned): Promise<void> {
  const { id, namespace, workflowId } = document;
  await letGo(pool, documents, id, { namespace, workflowId });
  await pool.query(
    "delete from trustflow.documents where id = $1 and namespace = $2 and workflow_id = $3",
    [id, namespace, workflowId],
  );
}

function keyOf(kind: DocumentKind): keyof RetentionOptions["days"] {
  return `${kind}Days`;
}

function nameOf({ namespace, workflowId }: Owner): string {
  return `${namespace}/${workflowId}`;
}
