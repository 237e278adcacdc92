// Says what the notice and the post show: each by itself, and together whether the person is served and how the process ends. Pure (P2
// §3.1, §3.2).
import type { ServeNoticeOutcome } from "../../contracts/serve-notice/contract.js";
import type { ServedWhen } from "../../contracts/serve-notice/states.js";
import type { LookedAt } from "../../contracts/shared/process-look.js";
import type { ChildStatus, References } from "../../contracts/shared/status.js";

/** A child as it was seen last. */
export interface SeenChild {
  /** The provider's state, as a query confirmed it. */
  state?: string | undefined;
  outcome?: string | undefined;
  /** Nothing more comes: it has a result, or an operator let the process go on without it. */
  isEnded: boolean;
}

const ranks: Record<ServedWhen, number> = { delivered: 1, received: 2, read: 3 };

/** By state or outcome, in lower case. Who answers a commitment has read the notice (P2 §3.2). */
const rankOfWord: Readonly<Record<string, number>> = {
  ...ranks,
  replied: ranks.read,
  accepted: ranks.read,
  rejected: ranks.read,
};

/** Outcomes after which the notice is not served any more, whatever its state. */
const unserving: ReadonlySet<string> = new Set(["refused", "cancelled"]);

/**
 * `failed` is an outcome at the close alone: a notice in the state `Failed` may still be delivered (P2 §3.2,
 * docs/reading-the-specification.md §3), and then the deadline decides. One whose process has given up at its own deadline is open at
 * the provider, and may have been delivered since it was looked at: the provider decides.
 */
export function noticeStanding(
  { state, outcome, isEnded }: SeenChild,
  servedWhen: ServedWhen,
): "served" | "unserved" | "open" {
  const rank = Math.max(rankOf(state), rankOf(outcome));
  if (rank >= ranks[servedWhen]) return "served";
  if (outcome === "openAtDeadline") return "open";
  const isClosed = isEnded || state === "Closed";
  return isClosed || (outcome !== undefined && unserving.has(outcome.toLowerCase()))
    ? "unserved"
    : "open";
}

function rankOf(word = ""): number {
  const key = word.toLowerCase();
  return Object.hasOwn(rankOfWord, key) ? (rankOfWord[key] ?? 0) : 0;
}

/** Both have ended. `post` is undefined if none was started. */
export function outcomeOf(
  isServedByNotice: boolean,
  notice: Pick<SeenChild, "outcome">,
  post: Pick<SeenChild, "outcome"> | undefined,
): ServeNoticeOutcome {
  const isServedByPost = post?.outcome === "delivered";
  if (isServedByNotice) return isServedByPost ? "servedByBoth" : "servedByNotice";
  if (isServedByPost) return "servedByPost";
  const last = post ?? notice;
  return last.outcome === "openAtDeadline" ? "openAtDeadline" : "notServed";
}

export function seenIn(found: LookedAt | undefined): SeenChild {
  if (found?.run === "open") {
    const { state, outcome } = found.status;
    return { state, outcome, isEnded: false };
  }
  return { outcome: outcomeIn(found), isEnded: found?.run === "completed" };
}

export function referencesIn(found: LookedAt | undefined): References {
  if (found?.run === "open") return found.status.references;
  return found?.run === "completed" ? (found.result["references"] as References) : {};
}

export function shownOf({ process: processName, id, found }: LookedAtChild): ChildStatus {
  const at = { process: processName, id, outcome: outcomeIn(found) };
  if (found?.run !== "open") return at;
  const { state, waitingFor, attention } = found.status;
  const asked = attention && {
    id: attention.id,
    kind: attention.kind,
    reason: attention.reason,
  };
  return { ...at, state, waitingFor, attention: asked };
}

export function lineOf({ state, outcome, waitingFor, attention }: ChildStatus): string {
  const waits = attention ? `needs an operator decision: ${attention.reason}` : waitingFor;
  return [outcome ?? state, waits].filter((text) => text !== undefined).join(", ") || "started";
}

interface LookedAtChild {
  process: string;
  id: string;
  found: LookedAt | undefined;
}

function outcomeIn(found: LookedAt | undefined): string | undefined {
  if (found?.run === "open") return found.status.outcome;
  return found?.run === "completed" ? String(found.result["outcome"]) : undefined;
}
