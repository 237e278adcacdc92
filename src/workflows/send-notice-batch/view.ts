// Shows a batch: its state at the newest read, and in numbers how far it is. It has no callbacks of its own (P2 §6.1).
import type { BatchRead } from "../../activities/evi-notice-batch/progress.js";
import type { ItemTotals } from "../../activities/evi-notice-batch/items.js";
import type {
  BatchProgress,
  BatchRecipients,
  BatchTotals,
} from "../../contracts/send-notice-batch/contract.js";
import { outcomeOfBroken } from "../../contracts/send-notice-batch/states.js";
import type { Snapshot, View } from "../runtime/event-log.js";
import { plainView } from "../runtime/event-log.js";

export type BatchSnapshot = BatchRead & Snapshot;

export function batchView(events: Parameters<typeof plainView>[0], snapshot?: BatchSnapshot): View {
  if (!snapshot) return plainView(events);
  const { state } = snapshot;
  const closed = state === "Processed" || outcomeOfBroken(state) !== undefined;
  return { ...plainView(events), state, closed };
}

export function snapshotOf(read: BatchRead): BatchSnapshot {
  const { state, sentCount, failedCount } = read;
  return { ...read, fingerprint: [state, sentCount, failedCount].join(" ") };
}

export interface Known {
  list: BatchRecipients | undefined;
  read: BatchRead | undefined;
  totals: ItemTotals | undefined;
}

/** The members that the status has beside those of every process. */
export function membersOf({ list, read, totals }: Known) {
  const known = totals ?? (read?.states && { at: read.stamp, states: read.states });
  return {
    ...(list && { list }),
    ...(read && { progress: progressOf(read) }),
    ...(known && { totals: { at: known.at, states: known.states } satisfies BatchTotals }),
  };
}

function progressOf({ stamp: at, ...read }: BatchRead): BatchProgress {
  const { sentCount, failedCount, progressPercentage } = read;
  return { at, sentCount, failedCount, progressPercentage };
}

export function linesOf({ list, read, totals }: Known): [string, string][] {
  const lines: [string, string][] = [];
  if (list) lines.push(["Recipients", `${list.recipients}; left out: ${list.invalidRows} rows`]);
  if (read?.sentCount !== undefined || read?.failedCount !== undefined) {
    const share = read.progressPercentage === undefined ? "" : `${read.progressPercentage} %; `;
    const { sentCount = 0, failedCount = 0 } = read;
    lines.push(["Progress", `${share}sent: ${sentCount}; failed: ${failedCount}`]);
  }
  if (totals) {
    // Each recipient counts once: a notice that is still open has its state.
    const known = Object.values(totals.states).reduce((sum, count) => sum + count, 0);
    const rest = (list?.recipients ?? known) - known;
    const all = { ...totals.states, ...(rest > 0 && { "not known yet": rest }) };
    const words = Object.entries(all).map(([state, count]) => `${state}: ${count}`);
    lines.push(["Notices", `${words.join("; ")}; of ${known + Math.max(0, rest)}`]);
  }
  return lines;
}
