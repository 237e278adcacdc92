// Polls of a provider: which answer satisfies a poll, and the error for what an answer does not show yet.
import { activityInfo } from "@temporalio/activity";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { Operation, Provider } from "../../providers/registry.js";
import type { AttemptMode } from "./failure.js";
import type { ProviderContext } from "./provider-context.js";

export interface PollRequest {
  /**
   * `now`: any answer; `affidavits`: any answer, with every affidavit that it lists; `change`: an answer that differs from
   * `seen`; `end`: an end state, or any answer after a few polls.
   */
  wait: "now" | "affidavits" | "change" | "end";
  mode: AttemptMode;
  /** The newest snapshot has this fingerprint. */
  seen: string | undefined;
}

/** How often a quick poll is repeated while the provider's answer lags behind its callback. */
const MAX_QUICK_POLLS = 6;

/** An operator's retry and the patient phases accept any answer; a quick poll waits for a specific one. */
export function isSatisfied(
  { wait, mode, seen }: PollRequest,
  shown: string,
  isEnd: boolean,
): boolean {
  if (mode !== "quick" || wait === "now" || wait === "affidavits") return true;
  if (wait === "change") return shown !== seen;
  return isEnd || activityInfo().attempt >= MAX_QUICK_POLLS;
}

/** An answer may announce what is not visible at once. What stays invisible needs an operator (docs/design.md §5). */
export function notFoundError<P extends Provider>(
  context: ProviderContext<P>,
  operation: Operation<P>,
  problem: string,
): ProviderError {
  const isEarly = activityInfo().attempt < MAX_QUICK_POLLS;
  return context.problem(operation, problem, isEarly ? "notVisibleYet" : "protocol");
}

/** Undefined where the provider's error says that there is nothing to read, and the caller can go on without it. */
export async function unless<T>(
  isNothing: (error: ProviderError) => boolean,
  reading: Promise<T>,
): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ProviderError && isNothing(error)) return undefined;
    throw error;
  }
}

/** The provider answers, but with something else. A redirect does not count: it may come from elsewhere. */
export const isOtherAnswer = ({ mismatch }: ProviderError) =>
  mismatch !== undefined && mismatch !== "redirect";

/** Undefined where the provider does not show it, not yet or not any more. */
export function whenVisible<T>(reading: Promise<T>): Promise<T | undefined> {
  return unless(({ kind }) => kind === "notVisibleYet", reading);
}
