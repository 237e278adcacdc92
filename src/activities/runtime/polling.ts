// A question to a provider that may have to be asked again: which answer is enough, and what is not there yet.
import { activityInfo } from "@temporalio/activity";
import type { Operation, Provider } from "../../providers/effect-classes.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { AttemptMode } from "./failure.js";

export interface PollRequest {
  /**
   * `now`: whatever it shows; `affidavits`: with every affidavit that it lists; `change`: until it differs from `seen`;
   * `end`: until an end state, a few times.
   */
  wait: "now" | "affidavits" | "change" | "end";
  mode: AttemptMode;
  /** The fingerprint of the newest snapshot. */
  seen: string | undefined;
}

/** How often an ask that a callback caused is repeated while the provider's answer lags behind it. */
const claimAttempts = 6;

/** A person or a patient phase waits for any answer; else the question says for which. */
export function isSatisfied(
  { wait, mode, seen }: PollRequest,
  shown: string,
  isEnd: boolean,
): boolean {
  if (mode !== "quick" || wait === "now" || wait === "affidavits") return true;
  if (wait === "change") return shown !== seen;
  return isEnd || activityInfo().attempt >= claimAttempts;
}

/** What an answer promises may not be there at once; for long, it is a person's matter (docs/design.md §5). */
export function notThere<P extends Provider>(
  provider: P,
  operation: Operation<P>,
  problem: string,
): ProviderError {
  const kind = activityInfo().attempt < claimAttempts ? "notVisibleYet" : "protocol";
  return new ProviderError({ kind, provider, operation, effect: "none", problem });
}
