// Erases one finished process (docs/decisions/0019): its documents, callback bodies, journal data, data key and histories. The order makes
// it repeatable after a crash: the key is deleted when no document of another process needs it, and the histories last, because they alone
// name the documents without an owner row.
import type { Client } from "@temporalio/client";
import { removeBatch } from "../batch/items/removal.js";
import type { DocumentStore } from "../documents/store.js";
import { deleteRuns, runsOf } from "../temporal/visibility/runs.js";
import type { Runs } from "../temporal/visibility/runs.js";
import {
  beginErasure,
  effectsAtProvider,
  eraseCallbacks,
  eraseEffects,
  erasuresOf,
  findErasable,
  finishErasure,
  abandonErasure,
  recordDocument,
  recordRuns,
} from "./erasure-record.js";
import type { ProcessKey } from "../crypto/data-key.js";
import type { ProviderEffects, Erasure, ErasureProof } from "./erasure-record.js";
import { Families } from "./executions.js";
import { recordOwners, findTakenDocuments } from "./inputs.js";
import type { DocumentUsers, TakenDocuments } from "./inputs.js";
import {
  otherOwners,
  releaseDocument,
  unlessDamaged,
  withDocumentLock,
} from "./release-documents.js";
import type { Damaged } from "./release-documents.js";
import type { Payload } from "@temporalio/common";
import type { KeyRing } from "../crypto/key-ring.js";
import { EncryptionCodec } from "../temporal/codec/codec.js";

export interface EraseOptions extends DocumentUsers {
  workflowId: string;
  /** It must be of the namespace of the process. */
  client: Client;
  documents: DocumentStore;
  /** How long Temporal may take for its deletion. */
  limitMs?: number;
}

export interface Erasable {
  /** Counts by kind; `unrecorded`: documents that only a history names, so that their kind is unknown. */
  documents: Record<string, number>;
  callbacks: number;
  effects: number;
  runs: number;
  /** Documents that are kept because other processes also own them. */
  shared: { uri: string; kind: string; owners: string[] }[];
  /** Among these. */
  damaged: Damaged[];
  /** The provider's own data, which are not erased. */
  atProvider: ProviderEffects[];
  /** The provider's ids. The record of the erasure does not contain them. */
  references: string[];
}

export type Erased = Erasable & Pick<Erasure, "by" | "proof" | "begunAt" | "finishedAt">;

/** Who erases. */
export interface Eraser {
  by: string;
  proof?: ErasureProof | undefined;
}

export class ProcessIsOpen extends Error {
  override readonly name = "ProcessIsOpen";

  /** `open`: itself, or one of its family. */
  constructor(workflowId: string, open = workflowId) {
    const why =
      open === workflowId
        ? "only a finished process can be erased"
        : `${workflowId} belongs to it or with it, and can be erased once it has finished too`;
    super(`${open} is still open: ${why}`);
  }
}

/** It may be that another Temporal was asked. */
export class ProcessIsLost extends Error {
  override readonly name = "ProcessIsLost";

  constructor(lost: string, until: Date) {
    super(
      `Temporal does not have ${lost}, although it has rows that are younger than the namespace's history retention: nothing was erased. ` +
        `Check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. If its history was deleted by hand, run the command again after ${until.toISOString()}`,
    );
  }
}

/** Neither Temporal nor the database knows the id. */
export class NothingToErase extends Error {
  override readonly name = "NothingToErase";

  constructor(workflowId: string) {
    super(`nothing is stored about ${workflowId}`);
  }
}

interface Document {
  id: string;
  kind: string;
}

interface Survey extends Omit<Erasable, "damaged"> {
  owned: Document[];
  /** Other processes that need some of these, although no row says so yet. */
  heirs: TakenDocuments[];
  underWay: boolean;
}

const unrecordedKind = "unrecorded";

/** Finds what `erase` would remove. */
export async function erasableOf(options: EraseOptions): Promise<Erasable> {
  const { owned: _, heirs: __, underWay: ___, ...found } = await survey(options);
  const damaged: Damaged[] = [];
  for (const { uri, owners } of found.shared) {
    const about = { uri, owner: owners[0] ?? "" };
    const reading = options.documents.readThrough(uri, processOf(options));
    await unlessDamaged(reading, about, (one) => damaged.push(one));
  }
  return { ...found, damaged };
}

/** Idempotent. An erased id cannot be used again: a new start with it is refused. */
export async function erase(options: EraseOptions & Eraser): Promise<Erased> {
  const { client, pool, documents, workflowId, by, proof, limitMs = 60_000 } = options;
  const processKey = processOf(options);
  const { owned, heirs, underWay, ...found } = await survey(options);
  const [last] = await erasuresOf(pool, processKey);
  const damaged: Damaged[] = [];
  if (last && !underWay && isEmpty(found)) return { ...found, ...recorded(last), damaged };
  const erasure = await beginErasure(pool, processKey, by, proof);
  // An attempt that started before the record was committed may be about to send.
  await finishedRuns(options).catch(async (error: unknown) => {
    if (error instanceof ProcessIsOpen || error instanceof ProcessIsLost)
      await abandonErasure(pool, erasure);
    throw error;
  });
  await recordRuns(pool, erasure, found.runs);
  await recordOwners(pool, heirs);
  for (const { id, kind } of owned)
    await withDocumentLock(pool, id, async (held) => {
      await releaseDocument(held, documents, id, processKey, (one) => damaged.push(one));
      await recordDocument(held, erasure, kind);
    });
  await eraseCallbacks(pool, erasure);
  await removeBatch(pool, processKey);
  await eraseEffects(pool, erasure);
  await documents.dataKeys.erase(processKey);
  await deleteRuns(client, workflowId, limitMs);
  await finishErasure(pool, erasure);
  const [done = erasure] = await erasuresOf(pool, processKey);
  return { ...found, ...recorded(done), damaged };
}

async function survey(options: EraseOptions): Promise<Survey> {
  const { pool, workflowId } = options;
  const processKey = processOf(options);
  const runs = await finishedRuns(options);
  const { documents, ...rows } = await findErasable(pool, processKey);
  const owned = [...documents, ...(await unrecorded(options, runs, documents))];
  const heirs = await heirsOf(options, owned);
  const shared: Erasable["shared"] = [];
  for (const { id, kind } of owned) {
    const owners: ProcessKey[] = [
      ...(await otherOwners(pool, id, processKey)),
      ...heirs.filter(({ ids }) => ids.includes(id)),
    ];
    if (owners.length > 0)
      shared.push({ uri: `document:${id}`, kind, owners: owners.map((one) => one.workflowId) });
  }
  const found: Omit<Erasable, "damaged"> = {
    ...rows,
    documents: countByKind(owned),
    runs: runs.runIds.length,
    shared,
    atProvider: await effectsAtProvider(pool, processKey),
    references: runs.references,
  };
  const [last] = await erasuresOf(pool, processKey);
  if (!last && isEmpty(found) && found.atProvider.length === 0)
    throw new NothingToErase(workflowId);
  return { ...found, owned, heirs, underWay: last !== undefined && !last.finishedAt };
}

/** Its runs. Throws where it is open or lost, or another one of its family. */
async function finishedRuns(options: EraseOptions): Promise<Runs> {
  const { client, pool, workflowId } = options;
  const runs = await runsOf(client, workflowId);
  if (runs.isOpen) throw new ProcessIsOpen(workflowId);
  const families = new Families({ pool, clientFor: () => client });
  const found = await families.remaining(processOf(options));
  if (!found) return runs;
  if (found.until) throw new ProcessIsLost(found.workflowId, found.until);
  throw new ProcessIsOpen(workflowId, found.workflowId);
}

/**
 * Documents that a history names, that no process owns, and whose seal can be this process's; other documents in a text are
 * kept.
 */
async function unrecorded(
  options: EraseOptions,
  { runIds }: Runs,
  known: Document[],
): Promise<Document[]> {
  const { client, codecRing, documents, pool, workflowId } = options;
  const processKey = processOf(options);
  const found: Document[] = [];
  for (const id of await namedDocuments(client, codecRing, workflowId, runIds)) {
    if (known.some((document) => document.id === id)) continue;
    const isTheirs = (await otherOwners(pool, id, processKey)).length > 0;
    if (!isTheirs && (await documents.mayBelongTo(`document:${id}`, processKey)))
      found.push({ id, kind: unrecordedKind });
  }
  return found;
}

/**
 * An open process whose first activity has not run has no rows. Before a document without an owner row is deleted, the finished processes
 * that Temporal still has are checked too: they may lack their rows as well.
 */
async function heirsOf(options: EraseOptions, owned: Document[]): Promise<TakenDocuments[]> {
  if (owned.length === 0) return [];
  const { namespace, workflowId } = processOf(options);
  const hasUnrecorded = owned.some(({ kind }) => kind === unrecordedKind);
  const { taken, problem } = await findTakenDocuments(
    options,
    new Set(owned.map(({ id }) => id)),
    hasUnrecorded ? new Date(0) : undefined,
  );
  if (problem !== undefined)
    throw new Error(
      `${problem}, so other owners of the documents are unknown: nothing was erased; run the command again later`,
    );
  return taken.filter((one) => one.namespace !== namespace || one.workflowId !== workflowId);
}

function processOf({ client, workflowId }: EraseOptions): ProcessKey {
  return { namespace: client.options.namespace, workflowId };
}

function countByKind(documents: Document[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of documents) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function recorded(erasure: Erasure) {
  const { by, proof, begunAt, finishedAt, documents, callbacks, effects, runs } = erasure;
  const counts = { documents, callbacks, effects, runs };
  return { by, ...(proof && { proof }), begunAt, ...(finishedAt && { finishedAt }), ...counts };
}

function isEmpty({ documents, callbacks, effects, runs }: Omit<Erasable, "damaged">): boolean {
  return Object.keys(documents).length + callbacks + effects + runs === 0;
}

const uriShape = /document:([0-9a-f]{32})/g;

/**
 * The ids of the documents that a process's histories name. Those without an owner row, such as an upload that no activity has taken or one
 * whose row a restore has lost, can be found only here.
 */
export async function namedDocuments(
  client: Client,
  codecRing: KeyRing,
  workflowId: string,
  runIds: string[],
): Promise<Set<string>> {
  const codec = new EncryptionCodec(codecRing);
  const ids = new Set<string>();
  for (const runId of runIds) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { data } of await codec.decode(payloadsIn(history.events))) {
      const text = data ? Buffer.from(data).toString("latin1") : "";
      for (const [, id = ""] of text.matchAll(uriShape)) ids.add(id);
    }
  }
  return ids;
}

/** They name no documents, and may come from a stranger, whose payloads nobody can open. */
const strangers = new Set([
  "memo",
  "upsertedMemo",
  "workflowExecutionSignaledEventAttributes",
  "workflowExecutionTerminatedEventAttributes",
]);

function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if ("metadata" in value && "data" in value && value.data instanceof Uint8Array)
    return [value as Payload];
  const parts = Object.entries(value).filter(([name]) => !strangers.has(name));
  return parts.flatMap(([, part]) => payloadsIn(part));
}
