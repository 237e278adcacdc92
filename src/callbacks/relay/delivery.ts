// Delivers the rows of one process: opens and parses them, and sends them in order with as few signals as possible
// (docs/design.md §7).
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { isSealed } from "../../contracts/shared/sealed-secret.js";
import { read } from "../inbox/reading.js";
import type { Reader } from "../inbox/reading.js";
import { settleRows } from "../inbox/rows.js";
import type { ClaimedRow, Settlement } from "../inbox/rows.js";
import type { SignalProblem } from "./signals.js";

export interface DeliveryTools extends Reader {
  /** Stores what events carry for the worker alone; a signal holds no secret. */
  keepSecrets(carried: CarriedSecret[]): Promise<void>;
  /** Sends one signal; returns the problem, if there is one. */
  signal(events: ProviderEvent[]): Promise<SignalProblem | undefined>;
  settle(rows: ClaimedRow[], settlement: Settlement): Promise<void>;
  /** Whether the claim leaves time for one more signal. */
  inTime(): boolean;
}

/** A secret in clear. */
export interface CarriedSecret {
  eventId: string;
  secret: string;
}

interface Ready {
  row: ClaimedRow;
  event: ProviderEvent;
  secret: string | undefined;
  size: number;
}

const MAX_EVENTS = 100;
const MAX_BYTES = 256_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Delivers the rows that can be delivered; parks the others or lets them wait. The end of the claim frees rows that it did
 * not touch.
 */
export async function deliver(rows: ClaimedRow[], tools: DeliveryTools): Promise<void> {
  const ready: Ready[] = [];
  const parked: { row: ClaimedRow; settlement: Settlement }[] = [];
  for (const row of rows) {
    const said = read(row, tools);
    if ("event" in said)
      ready.push({
        row,
        event: said.event,
        secret: said.secret,
        size: Buffer.byteLength(JSON.stringify(said.event)),
      });
    else parked.push({ row, settlement: said });
  }
  await settleRows(parked, tools.settle);
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
  if (!tools.inTime()) return giveBack(batch, 0, tools);
  const carried = batch.flatMap(secretOf);
  if (carried.length > 0) await tools.keepSecrets(carried);
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
      return halve(batch, tools);
    case "away":
      return giveBack(batch, 0, tools);
    default:
      return giveBack(batch, pauseAfter(batch), tools);
  }
}

// What looks sealed is no provider's: the worker would open it as ours.
function secretOf({ event, secret }: Ready): CarriedSecret[] {
  return secret === undefined || isSealed(secret) ? [] : [{ eventId: event.id, secret }];
}

// Splits the batch until the refused row is alone; the other rows are delivered.
async function halve(batch: Ready[], tools: DeliveryTools): Promise<Settlement | undefined> {
  if (batch.length === 1) {
    await tools.settle(rowsOf(batch), { state: "parked", reason: "refusedByTemporal" });
    return undefined;
  }
  const middle = Math.ceil(batch.length / 2);
  const stop = await send(batch.slice(0, middle), tools);
  if (stop === undefined) return send(batch.slice(middle), tools);
  await tools.settle(rowsOf(batch.slice(middle)), stop);
  return stop;
}

async function giveBack(
  batch: Ready[],
  pauseMs: number,
  tools: DeliveryTools,
): Promise<Settlement> {
  const settlement = { state: "waiting", pauseMs } as const;
  await tools.settle(rowsOf(batch), settlement);
  return settlement;
}

function pauseAfter(batch: Ready[]): number {
  const attempts = Math.max(...batch.map(({ row }) => row.attempts));
  const pause = Math.min(500 * 2 ** Math.min(attempts - 1, 10), MAX_PAUSE_MS);
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
