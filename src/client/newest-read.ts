// Reads how far the open activity of a batch of notices is since it last answered: the process learns of it only in steps of 4 %,
// while the activity leaves each read in its heartbeat (`src/activities/runtime/failure.ts`). To ask for it needs no workflow task.
import { SendNoticeBatchStatus } from "../contracts/send-notice-batch/contract.js";
import { batchOf } from "../contracts/send-notice-batch/progress-line.js";
import type { ProcessStatus } from "../contracts/shared/status.js";
import type { OpenCall } from "../temporal/visibility/open-calls.js";

type Members = Pick<SendNoticeBatchStatus, "progress" | "totals">;

const { progress: Progress, totals: Totals } = SendNoticeBatchStatus.shape;

/** Empty where no open activity has left a read, or none that this client can open. */
export function newestReadIn(calls: OpenCall[]): Members {
  const found: Members = {};
  for (const { heartbeat } of calls) {
    const { members } = (heartbeat ?? {}) as { members?: Record<keyof Members, unknown> };
    const progress = Progress.safeParse(members?.progress).data;
    const totals = Totals.safeParse(members?.totals).data;
    Object.assign(found, progress && { progress }, totals && { totals });
  }
  return found;
}

/** The status with what was read later than what the process knows. */
export function withNewestRead<S extends ProcessStatus>(status: S, read: Members): S {
  if (status.phase === "ended") return status;
  const { progress, totals } = batchOf(status);
  return {
    ...status,
    ...(isNewer(read.progress, progress) && { progress: read.progress }),
    ...(isNewer(read.totals, totals) && { totals: read.totals }),
  };
}

function isNewer(read: { at: string } | undefined, known: { at: string } | undefined): boolean {
  return read !== undefined && Date.parse(read.at) > (known ? Date.parse(known.at) : -Infinity);
}
