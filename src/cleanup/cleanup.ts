// Retention (docs/design.md §8) for `trustflow cleanup`: deletes inbox bodies, then journal and inbox rows, then orphaned
// documents, in small deletes. It deletes nothing of an open process and no journal row of a process that has a history; it
// asks Temporal about each process first.
import type { Client } from "@temporalio/client";
import { purgeBatches } from "../batch/items/removal.js";
import { CallbackArchive } from "../callbacks/inbox/archive.js";
import type { PurgeOptions } from "../callbacks/inbox/archive.js";
import { ConfigurationError } from "../config/config.js";
import type { Config } from "../config/config.js";
import type { KeyRing } from "../crypto/key-ring.js";
import type { DocumentStore } from "../documents/store.js";
import {
  forgetSamples,
  purgeCorrelations,
  purgeEffects,
  purgeStored,
} from "../journal/retention.js";
import type { IsOpen } from "../journal/retention.js";
import { expireDocuments } from "./document-retention.js";
import type { Expired } from "./document-retention.js";
import { Families } from "./executions.js";
import { eraseLateCallbacks } from "./erasure-record.js";
import { namespacesOf } from "./own-namespaces.js";
import { removeOrphans } from "./orphans.js";
import type { Orphans } from "./orphans.js";
import { databaseNow } from "../postgres/pool.js";
import type { Pool, PoolClient } from "../postgres/pool.js";
import { purgeTests } from "../webhooks/deliveries.js";
import { historyDays } from "../temporal/connection.js";
import { isUploadId } from "../documents/document-id.js";
import type { ProcessKey } from "../crypto/data-key.js";
import { releaseIf } from "./release-documents.js";
import type { Damaged } from "./release-documents.js";

export interface CleanupOptions {
  retention: Config["retention"];
  pool: Pool;
  codecRing: KeyRing;
  /** Present if this machine can reach the store. */
  documents?: DocumentStore;
  clientFor(namespace: string): Client;
  /** Throws where the namespace is not that of the database. */
  requireOwn?(namespace: string): Promise<void>;
  /** This configuration names it. */
  namespace: string;
  dryRun?: boolean;
}

export interface CleanupReport extends Leftovers {
  dryRun: boolean;
  /** Each count says what was deleted, or with a dry run would be. */
  inboxBodies: number;
  /** They belong to callbacks that came after the erasure of their process. */
  erasedBodies: number;
  parkedBodies: number;
  inboxRows: number;
  journalRows: number;
  documents: Orphans;
  /** Documents past the retention period of their kind. */
  expired: Expired["expired"];
  notes: string[];
}

const DAY_MS = 86_400_000;
/** Longer than any attempt works on a document. */
const LEFTOVER_DAYS = 1;
const SAMPLE_DAYS = 1;

export async function cleanUp(options: CleanupOptions): Promise<CleanupReport> {
  const { retention, pool, dryRun = false } = options;
  // This machine's clock may be wrong by months, and what is deleted is gone.
  const now = await databaseNow(pool);
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS);
  const { connection } = options.clientFor(options.namespace);
  const notes = checkOrder(retention, await historyDays(connection, options.namespace));
  // Before the rows are deleted.
  const namespaces = await namespacesOf(pool, options.namespace);
  const clients = namespaces.map((name) => options.clientFor(name));
  const families = new Families({ ...options, now });
  const rows = await purgeRows({ pool, retention, dryRun, before, families });
  const shared = { ...options, clients, dryRun };
  const days = retention.documents;
  const onDamaged = ({ owner, problem }: Damaged) =>
    notes.push(
      `a damaged document is kept as it is for ${owner}, which cannot read it: ${problem}`,
    );
  const { expired, unknownEnd, skipped, left } = await expireDocuments({
    ...{ ...shared, families, days, now, onDamaged },
  });
  if (unknownEnd > 0)
    notes.push(
      `${unknownEnd} document(s) with a retention period are kept: Temporal had already deleted their process when its end was to be recorded; see "trustflow erase"`,
    );
  if (skipped !== undefined)
    notes.push(`no document with an expired period was deleted: ${skipped}`);
  if (left !== undefined)
    notes.push(
      `a document that another process also owns is kept until the next clean-up: ${left}`,
    );
  const [lost] = families.lost;
  if (lost !== undefined)
    notes.push(
      `${families.lost.size} process(es), such as ${lost}, count as open: Temporal does not have them, although they have rows that are younger than the namespace's history retention`,
    );
  const leftovers = await removeLeftovers({
    ...{ ...options, before: before(LEFTOVER_DAYS), dryRun, onDamaged },
  });
  const documents = await removeOrphans({
    ...shared,
    storedBefore: before(retention.documentOrphanDays),
    quarantineDays: retention.quarantineDays,
  });
  const isWhole = skipped === undefined && (!options.documents || documents.skipped === undefined);
  if (!dryRun && isWhole)
    await pool.query("update trustflow.cleanups set ended_at = clock_timestamp()");
  return { dryRun, ...rows, documents, expired, ...leftovers, notes };
}

/** Rows of inbox and journal; with a dry run they are counted. */
async function purgeRows({
  pool,
  retention: { inboxDays, parkedDays, journalDays, batchSize: limit },
  dryRun,
  before,
  families,
}: {
  pool: Pool;
  retention: Config["retention"];
  dryRun: boolean;
  before(days: number): Date;
  families: Families;
}): Promise<
  Pick<CleanupReport, "erasedBodies" | "inboxBodies" | "inboxRows" | "journalRows" | "parkedBodies">
> {
  const running: IsOpen = (namespace, workflowId) => families.isOpen({ namespace, workflowId });
  // The journal outlives the history: a reset may need its rows for as long as that is there.
  const remembered: IsOpen = (namespace, workflowId) => families.isKnown({ namespace, workflowId });
  const archive = new CallbackArchive(pool);
  const inbox = (what: PurgeOptions["what"], olderThan: Date, isOpen: IsOpen) =>
    archive.purge({ what, olderThan, isOpen, limit, dryRun });
  const erasedBodies = await eraseLateCallbacks(pool, dryRun);
  const inboxBodies = await inbox("bodies", before(inboxDays), running);
  const inboxRows = await inbox("rows", before(journalDays), remembered);
  if (!dryRun) {
    await archive.forgetAddresses(before(journalDays));
    await forgetSamples(pool, before(SAMPLE_DAYS));
  }
  // After the rows, so that a dry run gives the same counts.
  const parkedBodies = await inbox("parkedBodies", before(parkedDays), running);
  const journalRows = await purgeEffects(pool, before(journalDays), remembered, limit, dryRun);
  if (!dryRun) {
    for (const table of ["event_secrets", "process_events"] as const)
      await purgeStored(table, pool, before(inboxDays), running, limit);
    await purgeTests(pool, before(inboxDays));
    await purgeCorrelations(pool, before(journalDays), remembered, limit);
    await purgeBatches(pool, before(journalDays));
  }
  return { inboxBodies, erasedBodies, parkedBodies, inboxRows, journalRows };
}

/** journal ≥ history ≥ inbox. The journal prevents a second letter, so a violation for the journal is refused. */
function checkOrder(
  { inboxDays, journalDays }: Config["retention"],
  historyDays: number,
): string[] {
  for (const [other, days] of [
    ["the namespace's history retention", historyDays],
    ["retention.inboxDays", inboxDays],
  ] as const) {
    if (journalDays >= days) continue;
    throw new ConfigurationError([
      `retention.journalDays is ${journalDays}, below ${other} of ${days} days: nothing was deleted`,
    ]);
  }
  if (inboxDays <= historyDays) return [];
  return [
    `retention.inboxDays is ${inboxDays}, above the namespace's history retention of ${historyDays} days`,
  ];
}

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
  onDamaged: (damaged: Damaged) => void;
}

interface Part extends ProcessKey {
  id: string;
}

/**
 * Removes what killed workers have left: documents that were being written, and parts of a batch's archive that were stored and not added to
 * it. Nothing reads them, whether their process is open or not; a day later no attempt works on them any more.
 */
export async function removeLeftovers(options: LeftoverOptions): Promise<Leftovers> {
  const { pool, documents, before, dryRun, onDamaged } = options;
  if (!documents) return { unfinishedFiles: 0, archiveParts: 0 };
  const unfinishedFiles = await documents.removeUnfinished(before, { dryRun });
  const parts = await looseParts(pool, before);
  if (dryRun) return { unfinishedFiles, archiveParts: parts.length };
  let archiveParts = 0;
  for (const part of parts) {
    const isLoose = async (client: PoolClient) =>
      (await looseParts(client, before, part.id)).length > 0;
    if (await releaseIf(pool, documents, part, isLoose, onDamaged)) archiveParts += 1;
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
