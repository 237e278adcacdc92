// A batch's notices are known by callbacks, which the relay stores, and by queries for those that none has closed.
import type { Sweep } from "../../batch/items/items.js";
import { countByWord } from "../../batch/items/shown.js";
import type { BatchTotals } from "../../contracts/send-notice-batch/contract.js";
import type { AttemptMode } from "../runtime/failure.js";
import { NotChangedYet } from "../runtime/failure.js";
import type { BatchContext, OfBatch, SentList } from "./context.js";
import { leastMove } from "./context.js";
import { listItems, readItems } from "./sweep.js";

export interface ItemTotals {
  at: string;
  /** By state in camelCase; closed ones by their outcome (`read`, `refused`, ...). The recipients without a notice are not in it. */
  states: Record<string, number>;
  /** Notices that ended as failed, and recipients of which the provider made none. */
  failed: number;
  /** Recipients whose notice is not closed, or not known. */
  open: number;
  /** All are closed, or the deadline is past: there is nothing more to ask. */
  isLast: boolean;
}

export interface Watched extends OfBatch {
  list: SentList;
  allowedFailures: number;
  /** Recipients that the provider counts as failed; which of them have no notice, its list of recipients says. */
  withoutNotice: number;
  pollIntervalSeconds: number;
  /** The provider makes no more notices. */
  areAllMade: boolean;
  /** `end`: a total that has moved is no reason for an answer. */
  wait: "change" | "end";
  /** At it, or after it, one last sweep, and then an answer in any case. */
  deadline: string;
  seen?: ItemTotals;
  mode: AttemptMode;
}

/**
 * Answers when all notices are closed, when a total has moved by 4 % of the recipients, when more failed than allowed, or, at the
 * deadline, after a last sweep; the totals in between are left in the heartbeat. Reads by query what no callback has closed, each
 * `pollIntervalSeconds`. Before the last answer each notice that callbacks alone have closed is read too.
 */
export async function watchItems(context: BatchContext, given: Watched): Promise<ItemTotals> {
  const now = await context.deps.journal.now();
  const deadline = new Date(given.deadline);
  const isOver = now >= deadline;
  const sweep = await context.deps.items.sweep(context.process);
  if (mayList(sweep, given, now)) await listItems(context, given, given.withoutNotice);
  const nextSweep = (sweep?.sweptAt?.getTime() ?? -Infinity) + given.pollIntervalSeconds * 1_000;
  if (isOver) await readItems(context, given, { before: deadline });
  else if (!sweep?.sweptAt) await context.deps.items.noteSwept(context.process, now);
  else if (now.getTime() >= nextSweep)
    await readItems(context, given, { before: new Date(nextSweep), isOpen: true });
  let totals = await totalsOf(context, given, isOver);
  if (totals.isLast && !isOver) {
    await readItems(context, given, { before: now });
    totals = await totalsOf(context, given, isOver);
  }
  const isNews = totals.isLast || hasCrossed(totals, given) || hasMoved(totals, given);
  // While an attention is open, any answer is news: it ends the attention.
  if (isNews || given.mode !== "quick") return totals;
  const { at, states } = totals;
  throw new NotChangedYet({ totals: { at, states } satisfies BatchTotals });
}

/** A list that is not complete, or may grow, is read again each `pollIntervalSeconds`, and once after the deadline. */
function mayList(
  sweep: Sweep | undefined,
  { areAllMade, pollIntervalSeconds, deadline }: Watched,
  now: Date,
): boolean {
  if (areAllMade && sweep?.isListed) return false;
  if (sweep?.cursor !== undefined || !sweep?.listBeganAt) return true;
  const began = sweep.listBeganAt.getTime();
  const end = new Date(deadline).getTime();
  const time = now.getTime();
  return time >= began + pollIntervalSeconds * 1_000 || (time >= end && began < end);
}

/**
 * Before the list is complete, or while the provider still makes notices, any recipient without a closed notice is open. Anyone who knows
 * the address can name notices that the list does not have, so their end counts for nothing.
 */
async function totalsOf(
  { deps, process: processKey }: BatchContext,
  { list, areAllMade }: Watched,
  isOver: boolean,
): Promise<ItemTotals> {
  const at = (await deps.journal.now()).toISOString();
  const isListed = areAllMade && (await deps.items.sweep(processKey))?.isListed === true;
  const totals = await deps.items.totals(processKey);
  const ended = totals.filter(({ listed, state }) => listed && state === "Closed");
  const known = sumOf(totals);
  const closed = sumOf(ended);
  const withoutNotice = isListed ? Math.max(0, list.recipients - known) : 0;
  const open = Math.max(0, (isListed ? known : list.recipients) - closed);
  return {
    at,
    states: countByWord(totals),
    failed: withoutNotice + (countByWord(ended)["failed"] ?? 0),
    open,
    isLast: isOver || open === 0,
  };
}

function sumOf(totals: readonly { count: number }[]): number {
  return totals.reduce((sum, { count }) => sum + count, 0);
}

/** Only once: an operator has decided about what was seen. */
function hasCrossed(
  { failed }: ItemTotals,
  { allowedFailures, seen, withoutNotice }: Watched,
): boolean {
  return failed > allowedFailures && (seen?.failed ?? withoutNotice) <= allowedFailures;
}

function hasMoved({ states }: ItemTotals, { wait, list, seen }: Watched): boolean {
  if (wait === "end") return false;
  const least = leastMove(list.recipients);
  const before = seen?.states ?? {};
  const words = new Set([...Object.keys(states), ...Object.keys(before)]);
  return [...words].some((word) => Math.abs((states[word] ?? 0) - (before[word] ?? 0)) >= least);
}
