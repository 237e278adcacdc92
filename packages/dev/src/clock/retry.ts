// When a failed activity is made again: the rules are the Temporal server's, the clock is the virtual one.
import type { Info } from "@temporalio/activity";
import { CancelledFailure, ensureApplicationFailure } from "@temporalio/common";
import { msOptionalToNumber, msToNumber } from "@temporalio/common/lib/time.js";
import { FAR_MS, IDLE_MS } from "./far.js";

/** By then a person is told that the provider does not show what it should have. */
const LAGGING_ATTEMPTS = 16;

/** Makes the failure final where the server would make no other attempt, and else gives it a delay that only the clock ends. */
export function failureByClock(
  error: unknown,
  info: Pick<Info, "attempt" | "retryPolicy">,
  leftMs: number,
): unknown {
  if (error instanceof CancelledFailure) return error;
  const failure = ensureApplicationFailure(error);
  const { nonRetryable, nextRetryDelay, type } = failure;
  const { maximumAttempts, nonRetryableErrorTypes = [] } = info.retryPolicy ?? {};
  const isLast =
    maximumAttempts !== undefined && maximumAttempts > 0 && info.attempt >= maximumAttempts;
  if (nonRetryable || isLast || nonRetryableErrorTypes.includes(type ?? "")) return failure;
  const asked = msOptionalToNumber(nextRetryDelay ?? undefined);
  const delayMs = asked ?? intervalMs(info);
  // A regular poll waits for the longest interval of its policy; another delay says that there is more to do.
  const isIdle =
    type === "unchanged"
      ? info.retryPolicy?.backoffCoefficient === 1 && delayMs === longestMs(info)
      : type === "notVisibleYet" && info.attempt > LAGGING_ATTEMPTS;
  return Object.assign(
    failure,
    delayMs > leftMs
      ? { nonRetryable: true }
      : { nextRetryDelay: (isIdle ? IDLE_MS : FAR_MS) + delayMs },
  );
}

function intervalMs(info: Pick<Info, "attempt" | "retryPolicy">): number {
  const { initialInterval = 1_000, backoffCoefficient = 2 } = info.retryPolicy ?? {};
  const grown = msToNumber(initialInterval) * backoffCoefficient ** (info.attempt - 1);
  return Math.min(grown, longestMs(info));
}

function longestMs({ retryPolicy = {} }: Pick<Info, "retryPolicy">): number {
  const { initialInterval = 1_000, maximumInterval } = retryPolicy;
  return msOptionalToNumber(maximumInterval) || 100 * msToNumber(initialInterval);
}
