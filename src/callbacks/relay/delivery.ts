// Delivers the rows of one process: opens and parses them, and sends them in order with as few signals as possible
// (docs/design.md §7).
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { isSealed } from "../../contracts/shared/sealed-secret.js";
import { readRows } from "../inbox/reading.js";
import type { Reader } from "../inbox/reading.js";
import {
  FAILURES_UNTIL_ALONE,
  MAX_FAILURES,
  undeliverable,
  halvesOf,
  refusalOf,
  inHalves,
} from "../inbox/rows.js";
import type { ClaimedRow, Parked, Settlement } from "../inbox/rows.js";
import type { SignalProblem } from "./signaller.js";
import type { BatchItems, HeardItem } from "../../batch/items/items.js";
import type { ProcessContract } from "../../contracts/definition/process-contract.js";
import { contractOf, parseWorkflowId } from "../../contracts/registry.js";

export interface DeliveryTools extends Reader {
  /** Stores what events carry for the worker alone; a signal holds no secret. */
  keepSecrets(carried: CarriedSecret[]): Promise<void>;
  /** Sends one signal; returns the problem, if there is one. */
  signal(events: ProviderEvent[]): Promise<SignalProblem | undefined>;
  /** Whether the signals of others get through. */
  servesOthers(): boolean;
  settle(rows: ClaimedRow[], settlement: Settlement): Promise<void>;
  /** Whether the claim leaves time for one more signal. */
  inTime(): boolean;
}

/** A secret in clear. */
export interface CarriedSecret {
  eventId: string;
  secret: string;
  /** Whether the provider has shown the process's own data for it: by it alone the process was found. */
  isOpened: boolean;
}

interface Ready {
  row: ClaimedRow;
  event: ProviderEvent;
  secret: string | undefined;
  reference: string | undefined;
  size: number;
}

const MAX_EVENTS = 100;
const MAX_BYTES = 256_000;
const MAX_PAUSE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Delivers the rows that can be delivered; parks the others or lets them wait. The end of the claim frees rows that it did
 * not touch.
 */
export async function deliver(rows: ClaimedRow[], tools: DeliveryTools): Promise<void> {
  const ready = (await readRows(rows, tools)).map(
    ({ row, said: { event, secret, reference } }) => ({
      ...{ row, event, secret, reference },
      size: Buffer.byteLength(JSON.stringify(event)),
    }),
  );
  const batches = split(ready);
  for (const [index, batch] of batches.entries()) {
    const stop = await send(batch, tools);
    if (stop === undefined) continue;
    // Keeps the order: no later row is delivered before a waiting one.
    const rest = batches.slice(index + 1).flat();
    if (rest.length > 0) await tools.settle(rowsOf(rest), stop);
    return;
  }
}

// Returns how the remaining rows wait, if this batch could not be delivered.
async function send(batch: Ready[], tools: DeliveryTools): Promise<Settlement | undefined> {
  if (!tools.inTime()) return giveBack(batch, tools);
  const carried = batch.flatMap(secretOf);
  try {
    if (carried.length > 0) await tools.keepSecrets(carried);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return parkOrHalve(batch, refusal, tools);
  }
  const problem = await tools.signal(batch.map(({ event }) => event));
  switch (problem) {
    case undefined:
      await tools.settle(rowsOf(batch), { state: "delivered" });
      return undefined;
    case "late":
      await tools.settle(rowsOf(batch), { state: "late" });
      return undefined;
    case "unknownProcess":
      await tools.settle(rowsOf(batch), { state: "parked", reason: "unknownProcess" });
      return undefined;
    case "refused":
      return parkOrHalve(batch, { state: "parked", reason: "refusedByTemporal" }, tools);
    case "away":
      return giveBack(batch, tools);
    case "failed":
      // Nothing has left this process, so the others are tried at once.
      return batch.length === 1 ? fail(batch, problem, tools) : halve(batch, tools);
    default:
      return fail(batch, problem, tools);
  }
}

// A secret that looks sealed is no provider's: the worker would open it as ours.
function secretOf({ event, secret, reference }: Ready): CarriedSecret[] {
  const isOurs = secret !== undefined && !isSealed(secret);
  return isOurs ? [{ eventId: event.id, secret, isOpened: reference === undefined }] : [];
}

// The refused row is parked alone; the other rows are delivered.
async function parkOrHalve(
  batch: Ready[],
  refusal: Parked,
  tools: DeliveryTools,
): Promise<Settlement | undefined> {
  if (batch.length > 1) return halve(batch, tools);
  await tools.settle(rowsOf(batch), refusal);
  return undefined;
}

async function halve(batch: Ready[], tools: DeliveryTools): Promise<Settlement | undefined> {
  const [first, second] = halvesOf(batch);
  const stop = await send(first, tools);
  if (stop === undefined) return send(second, tools);
  await tools.settle(rowsOf(second), stop);
  return stop;
}

// Returns how the rows after these wait, if they have to. While nobody gets through, it is no failure of the rows. A part of Temporal may
// be away while the rest answers: for a day such a failure only has a row tried alone.
async function fail(
  batch: Ready[],
  problem: keyof typeof failures,
  tools: DeliveryTools,
): Promise<Settlement | undefined> {
  const most = problem === "failed" || batch.every(isOld) ? MAX_FAILURES : FAILURES_UNTIL_ALONE;
  const isFailure = tools.servesOthers() && batch.every(({ row }) => row.failures < most);
  const isLast = batch.every(({ row }) => row.failures + 1 >= MAX_FAILURES);
  if (isFailure && isLast) {
    await tools.settle(rowsOf(batch), undeliverable(failures[problem]));
    return undefined;
  }
  const waiting = { state: "waiting", pauseMs: pauseAfter(batch) } as const;
  await tools.settle(rowsOf(batch), isFailure ? { ...waiting, isFailure } : waiting);
  return problem === "failed" ? undefined : waiting;
}

const isOld = ({ row }: Ready) => Date.now() - row.receivedAt.getTime() > DAY_MS;

const failures = {
  failed: "the signal cannot be made",
  timeout: "Temporal does not answer for this process in time",
  busy: "Temporal is busy with this process",
};

async function giveBack(batch: Ready[], tools: DeliveryTools): Promise<Settlement> {
  const settlement = { state: "waiting", pauseMs: 0 } as const;
  await tools.settle(rowsOf(batch), settlement);
  return settlement;
}

function pauseAfter(batch: Ready[]): number {
  const attempts = Math.max(...batch.map(({ row }) => row.attempts));
  const pause = Math.min(500 * 2 ** (attempts - 1), MAX_PAUSE_MS);
  return Math.round(pause * (0.5 + Math.random() / 2));
}

function split(ready: Ready[]): Ready[][] {
  const batches: Ready[][] = [];
  let bytes = 0;
  for (const item of ready) {
    const last = batches.at(-1);
    if (last === undefined || last.length >= MAX_EVENTS || bytes + item.size > MAX_BYTES) {
      batches.push([item]);
      bytes = item.size;
    } else {
      last.push(item);
      bytes += item.size;
    }
  }
  return batches;
}

function rowsOf(batch: Ready[]): ClaimedRow[] {
  return batch.map(({ row }) => row);
}

export interface ItemTools extends Reader {
  keep: (heard: HeardItem[]) => ReturnType<BatchItems["keep"]>;
  settle(rows: ClaimedRow[], settlement: Settlement): Promise<void>;
}

type Words = NonNullable<ProcessContract["items"]>;

/** Undefined if the row reports no item of a batch. */
export function itemWordsOf({ account, workflowId }: ClaimedRow): Words | undefined {
  const processName = account === null ? parseWorkflowId(workflowId)?.process : undefined;
  return processName && contractOf(processName).items;
}

/**
 * Notes the callbacks of a batch in the database, an item a row (src/batch/items/items.ts); the process gets none of them. Parks what cannot
 * be read or stored, and keeps the rest in one commit.
 */
export async function keepItems(rows: ClaimedRow[], words: Words, tools: ItemTools): Promise<void> {
  const readable = await readRows(rows, tools);
  await inHalves(
    readable.map(({ row, said }) => ({ row, item: heardOf(row.id, said.event, words) })),
    (some) => tools.keep(some.map(({ item }) => item)),
    ({ row }, refusal) => tools.settle([row], refusal),
  );
}

function heardOf(
  id: string,
  { kind, at, evidenceId, outcome }: ProviderEvent,
  { states, endStates, outcomes }: Words,
): HeardItem {
  const word = outcome?.toLowerCase();
  // Another word is what the query shows; of a stranger's, each would be counted by itself.
  const known = outcomes.find((name) => name.toLowerCase() === word);
  return {
    ...{ id, kind, at, rank: states.indexOf(kind) + 1 },
    ...(evidenceId !== undefined && { evidenceId }),
    ...(known !== undefined && endStates.has(kind) && { outcome: known }),
  };
}
