// Shows a postal communication (P2 §2.5, §3.1).
import { endStates, postalOutcomes, postalStates } from "../../contracts/send-postal/states.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { PostalDates } from "../../contracts/send-postal/contract.js";
import { viewOf } from "../shared/evi-view.js";
import type { EviSnapshot } from "../../activities/evi/ask.js";
import type { EviView } from "../shared/evi-view.js";

export type PostalSnapshot = EviSnapshot<PostalDates>;

export type PostalView = EviView<(typeof postalOutcomes)[number]>;

export const postalView = viewOf<PostalSnapshot, (typeof postalOutcomes)[number]>({
  states: postalStates,
  outcomes: postalOutcomes,
  restingStates: new Set(["Cancelled", "Disposed"]),
});

/** A callback that reports an end; the answer to a query confirms it. */
export function reportsEnd({ kind }: ProviderEvent): boolean {
  return endStates.has(kind);
}

/** Names a transition that P2 §3.1 excludes; the process follows it anyway. */
export function excludedTransition(
  seen: readonly string[],
  next: PostalSnapshot,
  postServiceType: string,
): string | undefined {
  if (["Declined", "Acknowledged", "Hindered"].includes(next.outcome ?? "")) {
    return `the outcome ${next.outcome} is never produced (P2 §3.1)`;
  }
  const nonDelivery = seen.includes("Undelivered");
  if (
    postServiceType === "LetterLite" &&
    nonDelivery &&
    next.state === "Closed" &&
    next.outcome === "Delivered"
  ) {
    return "LetterLite cannot close as Delivered after non-delivery (P2 §3.1)";
  }
  if (seen.includes("Closed") && next.state !== "Closed") return "Closed is the end (P2 §3.1)";
  return undefined;
}
