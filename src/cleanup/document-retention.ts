// The retention of documents by kind (docs/decisions/0019), counted from the end of the process and of its family, which is stored
// while Temporal still has it. A document is kept if that end is unknown or an open process needs it.
import type { Config } from "../config/config.js";
import { familyOf } from "../contracts/registry.js";
import type { DocumentStore } from "../documents/store.js";
import { DocumentStoreFullError, MissingDataKeyError } from "../errors/index.js";
import { documentKinds } from "../journal/ownership.js";
import type { ProcessKey } from "../crypto/data-key.js";
import type { DocumentKind } from "../journal/ownership.js";
import type { Pool, PoolClient } from "../postgres/pool.js";
import type { Families } from "./executions.js";
import { recordOwners, findTakenDocuments } from "./inputs.js";
import type { DocumentUsers } from "./inputs.js";
import { releaseIf } from "./release-documents.js";
import type { Damaged } from "./release-documents.js";

export interface Expired {
  /** How many were deleted, or with a dry run would be, by kind. */
  expired: Record<string, number>;
  /** How many have a period but no known end of their process. */
  unknownEnd: number;
  /** Why none was removed. */
  skipped?: string;
  /** Why one that another process also owns could not be sealed for that one; it stays until the next time. */
  left?: string;
}

export interface RetentionOptions extends DocumentUsers {
  /** Present if this machine can reach the store; without it nothing is deleted. */
  documents?: DocumentStore | undefined;
  onDamaged: (damaged: Damaged) => void;
  days: Config["retention"]["documents"];
  families: Families;
  dryRun: boolean;
  now: Date;
}

interface Owned extends ProcessKey {
  id: string;
  kind: DocumentKind;
  endedAt: Date | null;
}

type Due = Owned & { endedAt: Date };

const DAY_MS = 86_400_000;
const PARALLEL = 8;

export async function expireDocuments(options: RetentionOptions): Promise<Expired> {
  const { pool, documents, dryRun, onDamaged } = options;
  const ends = await learnEnds(options);
  const report: Expired = { expired: {}, unknownEnd: 0 };
  if (!documents) return report;
  const due: Due[] = [];
  for (const document of await documentsWithPeriod(options)) {
    const endedAt = document.endedAt ?? ends.get(nameOf(document));
    if (endedAt === undefined) continue;
    if (endedAt === null) {
      report.unknownEnd += 1;
      continue;
    }
    if (isDue(options, document.kind, endedAt)) due.push({ ...document, endedAt });
  }
  if (due.length === 0) return report;
  // Done once for all of them: from then on, every document that an open process names has an owner.
  const { taken, problem } = await findTakenDocuments(options, new Set(due.map(({ id }) => id)));
  if (problem !== undefined) return { ...report, skipped: problem };
  if (!dryRun) await recordOwners(pool, taken);
  for (const document of due) {
    const isGone = dryRun
      ? await isStillDue(options, document)
      : await releaseIf(
          pool,
          documents,
          document,
          (client) => isStillDue(options, document, client),
          onDamaged,
        ).catch((error: unknown) => {
          if (!isPassing(error)) throw error;
          report.left = error.message;
          return false;
        });
    if (isGone) report.expired[document.kind] = (report.expired[document.kind] ?? 0) + 1;
  }
  return report;
}

/** The others go: they free the space that this one needs, and a key that is not restored would stop the clean-up for ever. */
function isPassing(error: unknown): error is Error {
  return error instanceof DocumentStoreFullError || error instanceof MissingDataKeyError;
}

function isDue({ days, now }: RetentionOptions, kind: DocumentKind, end: Date): boolean {
  return now.getTime() - end.getTime() >= (days[`${kind}Days`] ?? Infinity) * DAY_MS;
}

/**
 * The process may have been started again or ended later; this stores the new end, except in a dry run, which has no
 * `client`.
 */
async function isStillDue(
  options: RetentionOptions,
  { kind, endedAt, ...processKey }: Due,
  client?: PoolClient,
): Promise<boolean> {
  const newest = (await options.families.endOf(processKey, client)) ?? endedAt;
  const isOpen = newest === "open";
  if (client && (isOpen || newest > endedAt))
    await writeEnd(client, processKey, isOpen ? null : newest);
  return !isOpen && isDue(options, kind, newest);
}

/** The ends of the processes without a stored end; null: unknown, absent: the process is open. */
async function learnEnds(options: RetentionOptions): Promise<Map<string, Date | null>> {
  const { pool, families, dryRun } = options;
  const { rows } = await pool.query<ProcessKey>(
    `select distinct namespace, workflow_id as "workflowId" from trustflow.documents where ended_at is null`,
  );
  const ends = new Map<string, Date | null>();
  const learn = async (processKey: ProcessKey): Promise<void> => {
    const end = await families.endOf(processKey);
    if (end === "open") return;
    ends.set(nameOf(processKey), end ?? null);
    if (end && !dryRun) await writeEnd(pool, processKey, end);
  };
  for (let at = 0; at < rows.length; at += PARALLEL)
    await Promise.all(rows.slice(at, at + PARALLEL).map(learn));
  return ends;
}

/** The end is that of the whole family, so all its documents get it. */
async function writeEnd(
  pool: Pool | PoolClient,
  { namespace, workflowId }: ProcessKey,
  end: Date | null,
): Promise<void> {
  await pool.query(
    "update trustflow.documents set ended_at = $3 where namespace = $1 and workflow_id = any($2)",
    [namespace, familyOf(workflowId), end],
  );
}

/** The documents that may be due. */
async function documentsWithPeriod({ pool, days, now }: RetentionOptions): Promise<Owned[]> {
  const shortest = Math.min(...Object.values(days).map((period) => period ?? Infinity));
  if (shortest === Infinity) return [];
  const { rows } = await pool.query<Owned>(
    `select id, namespace, workflow_id as "workflowId", kind, ended_at as "endedAt" from trustflow.documents
     where kind = any($1) and (ended_at is null or ended_at < $2) order by namespace, workflow_id, id`,
    [
      documentKinds.filter((kind) => days[`${kind}Days`] !== undefined),
      new Date(now.getTime() - shortest * DAY_MS),
    ],
  );
  return rows;
}

function nameOf({ namespace, workflowId }: ProcessKey): string {
  return `${namespace}/${workflowId}`;
}
