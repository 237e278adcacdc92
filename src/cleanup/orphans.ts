// Documents that no process ever got: put into the store for a start that failed. Which ones they are can be told only
// while every history that might name them is there, so only documents younger than the history retention are looked at.
import type { Client } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import type { KeyRing } from "../crypto/key-ring.js";
import type { DocumentStore } from "../documents/store.js";
import { processes } from "../contracts/names.js";
import { EncryptionCodec } from "../temporal/codec.js";

export interface Orphans {
  removed: number;
  /** Old enough to be orphans, but named by a history. */
  inUse: number;
  /** Why none was looked at. */
  skipped?: string;
}

export interface OrphanOptions {
  /** Of every namespace whose histories may name one. */
  clients: Client[];
  codecRing: KeyRing;
  documents?: DocumentStore;
  newerThan: Date;
  olderThan: Date;
  dryRun: boolean;
}

const uriShape = /document:[0-9a-f]{32}/g;
const PARALLEL = 8;

export async function removeOrphans(options: OrphanOptions): Promise<Orphans> {
  const { documents, newerThan, olderThan, dryRun } = options;
  const skip = (skipped: string): Orphans => ({ removed: 0, inUse: 0, skipped });
  if (!documents) return skip("the document store is not configured here");
  if (newerThan >= olderThan) {
    return skip(
      "histories are kept for fewer days than retention.documentOrphanDays: orphans cannot be told",
    );
  }
  const candidates = new Set<string>();
  let oldest = olderThan;
  for await (const { uri, storedAt } of documents.list()) {
    if (storedAt <= newerThan || storedAt >= olderThan) continue;
    candidates.add(uri);
    if (storedAt < oldest) oldest = storedAt;
  }
  const found = candidates.size;
  if (found > 0) await removeNamed(candidates, oldest, options);
  if (!dryRun) for (const uri of candidates) await documents.delete(uri);
  return { removed: candidates.size, inUse: found - candidates.size };
}

/** Takes every candidate away that a history of a process names, which was open at any time since `oldest`. */
async function removeNamed(
  candidates: Set<string>,
  oldest: Date,
  { clients, codecRing }: OrphanOptions,
): Promise<void> {
  const codec = new EncryptionCodec(codecRing);
  const types = processes.map((name) => `"${name}"`).join(", ");
  const query = `WorkflowType IN (${types}) AND (ExecutionStatus = "Running" OR CloseTime > "${oldest.toISOString()}")`;
  const under = new Set<Promise<void>>();
  const read = async (client: Client, workflowId: string, runId: string): Promise<void> => {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const payloads = payloadsIn(history.events);
    for (const { data } of await codec.decode(payloads)) {
      const text = data ? Buffer.from(data).toString("latin1") : "";
      for (const [uri] of text.matchAll(uriShape)) candidates.delete(uri);
    }
  };
  for (const client of clients) {
    for await (const { workflowId, runId } of client.workflow.list({ query })) {
      while (under.size >= PARALLEL) await Promise.race(under);
      if (candidates.size === 0) break;
      const task = read(client, workflowId, runId).finally(() => under.delete(task));
      under.add(task);
      // Seen by Promise.all below; until then nobody else waits for it.
      task.catch(() => undefined);
    }
  }
  await Promise.all(under);
}

/** Wherever they stand in an event. */
function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if ("metadata" in value && "data" in value && value.data instanceof Uint8Array)
    return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}
