// How far the provider is with a batch (P2 §2.8, §3.3).
import { countByWord } from "../../batch/items/shown.js";
import type { BatchProgress, BatchTotals } from "../../contracts/send-notice-batch/contract.js";
import { outcomeOfBroken } from "../../contracts/send-notice-batch/states.js";
import { NotChangedYet } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import type { BatchContext, OfBatch } from "./context.js";
import { leastMove } from "./context.js";

export interface BatchRead {
  /** The database's clock before the question. */
  stamp: string;
  /** P2 §3.3. */
  state: string;
  sentCount?: number | undefined;
  failedCount?: number | undefined;
  progressPercentage?: number | undefined;
  /** The notices that have called back so far, by their state. */
  states?: Record<string, number>;
}

export interface ProgressQuestion extends OfBatch {
  recipients: number;
  allowedFailures: number;
  /** When the provider starts it; absent: at once. */
  scheduledDate?: string | undefined;
  seen?: BatchRead;
  mode: AttemptMode;
}

/**
 * Answers when the state differs from `seen`, the counts have moved by 4 % of the recipients, or more failed than allowed; each read in
 * between is left in the heartbeat. A batch that is seen to be broken is a `protocol` problem until its state is another one. So is one
 * that still is a draft `attention.invisibleSeconds` after its start: a draft makes no notice.
 */
export async function followBatch(
  context: BatchContext,
  given: ProgressQuestion,
): Promise<BatchRead> {
  const stamp = await context.stamp();
  const batch = await context.findBatch(given.batchId);
  if (!batch) throw context.notShown("getBatch", "does not show the batch");
  const { state, sentCount, failedCount, progressPercentage } = batch;
  if (state === "Draft") {
    if (context.isNew(given.scheduledDate)) throw new NotChangedYet();
    throw context.problem("getBatch", "shows a draft, although it was started");
  }
  const isNews = state !== given.seen?.state;
  if (!isNews && outcomeOfBroken(state))
    throw context.problem("getBatch", `the provider gave the batch up: it is ${state}`);
  const read: BatchRead = { stamp, state, sentCount, failedCount, progressPercentage };
  const states = countByWord(await context.deps.items.totals(context.process));
  if (Object.keys(states).length > 0) read.states = states;
  if (given.mode === "quick" && !isNews && !hasMoved(read, given))
    throw new NotChangedYet(membersOf(read));
  return read;
}

/** As the status has them. */
function membersOf(read: BatchRead): { progress: BatchProgress; totals?: BatchTotals } {
  const { stamp: at, state: _, states, ...counts } = read;
  return { progress: { at, ...counts }, ...(states && { totals: { at, states } }) };
}

function hasMoved(
  read: BatchRead,
  { seen, recipients, allowedFailures }: ProgressQuestion,
): boolean {
  const { failedCount = 0 } = read;
  const isOver = failedCount > allowedFailures && (seen?.failedCount ?? 0) <= allowedFailures;
  return isOver || doneOf(read) - doneOf(seen) >= leastMove(recipients);
}

function doneOf({ sentCount = 0, failedCount = 0 }: Partial<BatchRead> = {}): number {
  return sentCount + failedCount;
}
