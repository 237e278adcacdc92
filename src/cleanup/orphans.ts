// Orphans: unused uploads of clients (docs/decisions/0018). A document without a known reference is not proven unused, so
// only the database can make an orphan; Temporal can only keep one. An orphan goes into quarantine and is deleted days later.
import type { Client } from "@temporalio/client";
import type { KeyRing } from "../crypto/key-ring.js";
import { documentIdOf, isUploadId, uriOf } from "../documents/document-id.js";
import type { DocumentStore } from "../documents/store.js";
import type { Pool } from "../postgres/pool.js";
import { recordOwners, findTakenDocuments } from "./inputs.js";
import {
  ownedSince,
  quarantine,
  quarantined,
  removeFromQuarantine,
  unownedOf,
} from "./quarantine.js";
import type { Uploads } from "./quarantine.js";

export interface Orphans {
  /** Put into quarantine now. */
  quarantined: number;
  /** Deleted because their time in quarantine was over. */
  removed: number;
  /** Why none was checked. */
  skipped?: string;
}

export interface OrphanOptions {
  /** There is one for every namespace whose processes share the store. */
  clients: Client[];
  codecRing: KeyRing;
  pool: Pool;
  documents?: DocumentStore;
  /** Only uploads that were stored before this time. */
  storedBefore: Date;
  quarantineDays: number;
  dryRun: boolean;
}

const PAGE = 1_000;

export async function removeOrphans(options: OrphanOptions): Promise<Orphans> {
  const { pool, documents, storedBefore, quarantineDays, dryRun } = options;
  if (!documents)
    return { quarantined: 0, removed: 0, skipped: "the document store is not configured here" };
  // Each list is read to its end before any decision; an incomplete list decides nothing.
  const found = await unownedUploads(pool, documents, storedBefore);
  const due: Uploads = new Map(
    (await quarantined(pool, quarantineDays)).map(({ id, storedAt }) => [id, storedAt]),
  );
  const suspects = new Map([...found, ...due]);
  if (suspects.size > 0) {
    const oldest = Math.min(...[...suspects.values()].map((storedAt) => storedAt.getTime()));
    const { taken, problem } = await findTakenDocuments(options, suspects, new Date(oldest));
    if (problem !== undefined) return { quarantined: 0, removed: 0, skipped: problem };
    if (!dryRun) await recordOwners(pool, taken);
    for (const id of taken.flatMap(({ ids }) => ids)) if (!found.delete(id)) due.delete(id);
  }
  if (dryRun) return { quarantined: found.size, removed: due.size };
  let removed = 0;
  for (const id of due.keys())
    if (await removeFromQuarantine(pool, id, () => documents.delete(uriOf(id)))) removed += 1;
  return { quarantined: await quarantine(pool, found), removed };
}

async function unownedUploads(
  pool: Pool,
  documents: DocumentStore,
  storedBefore: Date,
): Promise<Uploads> {
  const since = await ownedSince(pool);
  const found: Uploads = new Map();
  let page: Uploads = new Map();
  const look = async () => {
    const unowned = await unownedOf(pool, [...page.keys()]);
    for (const [id, storedAt] of page) if (unowned.has(id)) found.set(id, storedAt);
    page = new Map();
  };
  for await (const { uri, storedAt } of documents.list()) {
    const id = documentIdOf(uri);
    if (!isUploadId(id) || storedAt < since || storedAt >= storedBefore) continue;
    page.set(id, storedAt);
    if (page.size === PAGE) await look();
  }
  await look();
  return found;
}
