// When an activity that failed is made again: by the clock, where the SDK would let the server decide. The rules are the server's.
import type { Info } from "@temporalio/activity";
import { CancelledFailure, ensureApplicationFailure } from "@temporalio/common";
import { msToNumber } from "@temporalio/common/lib/time.js";
import { FAR_MS } from "./far.js";

type Retried = Pick<Info, "attempt" | "retryPolicy" | "scheduleToCloseTimeoutMs">;

/** The failure with a delay of which Temporal's own clock never sees the end; final where the server would make no other attempt. */
export function failureByClock(error: unknown, info: Retried, leftMs: number): unknown {
  if (error instanceof CancelledFailure) return error;
  if (error instanceof Error && error.name === "CompleteAsyncError") return error;
  const failure = ensureApplicationFailure(error);
  const { nonRetryable, nextRetryDelay, type } = failure;
  const policy = info.retryPolicy ?? {};
  const isFinal =
    nonRetryable ||
    info.attempt >= (policy.maximumAttempts || Infinity) ||
    (type != null && policy.nonRetryableErrorTypes?.includes(type) === true);
  if (isFinal) return failure;
  const delayMs = nextRetryDelay == null ? intervalMs(info) : msToNumber(nextRetryDelay);
  const how = delayMs > leftMs ? { nonRetryable: true } : { nextRetryDelay: FAR_MS + delayMs };
  return Object.assign(failure, how);
}

function intervalMs({ attempt, retryPolicy = {} }: Retried): number {
  const { initialInterval = 1_000, backoffCoefficient = 2, maximumInterval } = retryPolicy;
  const first = msToNumber(initialInterval);
  const most = maximumInterval === undefined ? 100 * first : msToNumber(maximumInterval);
  return Math.min(first * backoffCoefficient ** (attempt - 1), most || 100 * first);
}
