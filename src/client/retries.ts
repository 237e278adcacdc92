// Adds to a status what Temporal alone knows of the calls that the process waits for: which of them failed and are made again, and, before
// the first answer, where they are made.
import type { Problem } from "../contracts/shared/failures.js";
import { causeIn, ownCauseOf } from "../contracts/shared/failures.js";
import { ProcessStatus, RetriedCall } from "../contracts/shared/status.js";
import type { OpenCall } from "../temporal/visibility/open-calls.js";
import { SendNoticeBatchStatus } from "../contracts/send-notice-batch/contract.js";
import { batchOf } from "../contracts/send-notice-batch/progress-line.js";

const Place = ProcessStatus.pick({ environment: true, account: true }).strip();

export function withOpenCalls<S extends ProcessStatus>(status: S, calls: OpenCall[]): S {
  if (status.phase === "ended") return status;
  const retrying = retriesIn(calls);
  const place = calls.map(({ heartbeat }) => Place.safeParse(heartbeat).data).find(Boolean);
  return {
    ...status,
    ...(status.environment === "unknown" && place),
    ...(retrying.length > 0 && { retrying }),
  };
}

export function retriesIn(calls: OpenCall[]): RetriedCall[] {
  return calls.flatMap((call) => RetriedCall.safeParse(retryOf(call)).data ?? []);
}

/** Whether one of the calls may soon fail or succeed. A poll that goes well may take days. */
export function isCalling(calls: OpenCall[]): boolean {
  return calls.some(({ lastFailure }) => !lookingOnly.has(lastFailure?.type));
}

/**
 * A retry that sends nothing, and only looks: the provider shows no change, or does not show an item yet; or an operator has to decide, as
 * the attention says, and the answer may still become known.
 */
const lookingOnly = new Set<unknown>(["unchanged", "notVisibleYet", "unknownOutcome", "protocol"]);

function retryOf({ activity, attempt, nextAttemptAt, lastFailure }: OpenCall): object | undefined {
  if (!lastFailure || lookingOnly.has(lastFailure.type)) return undefined;
  const { type, detail } = lastFailure;
  const problem = detail as Problem | undefined;
  const { provider, operation, host, requestId } = problem ?? {};
  return {
    ...(problem
      ? { provider, operation, host, cause: causeIn(problem), requestId }
      : { provider: "trustflow", operation: activity, cause: withoutProblem(type) }),
    attempt,
    nextAttemptAt: nextAttemptAt?.toISOString(),
  };
}

/** A kind of problem whose details this client cannot open, or an error of our own. */
const withoutProblem = (type: string) => (/^[a-z]\w{1,80}$/.test(type) ? type : ownCauseOf(type));

// How far the open activity of a batch of notices is since it last answered: the process learns of it only in steps of 4 %, while the
// activity leaves each read in its heartbeat (`src/activities/runtime/failure.ts`).

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
