// The view of a postal communication, from callbacks and the newest query. It is pure, so that order, number, loss and
// forgery of callbacks change neither state nor outcome (P2 §2.5, §3.1, §6.4).
import { endStates, postalOutcomes, postalStates } from "../../contracts/send-postal/states.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { PostalDates, PostalOutcome } from "../../contracts/send-postal.js";
import type { Snapshot, View } from "../runtime/event-log.js";
import { entryOf } from "../runtime/plain-view.js";

export interface PostalSnapshot extends Snapshot {
  outcome?: string;
  dates: PostalDates;
}

export interface PostalView extends View {
  outcome?: PostalOutcome;
  /** The provider's word, where `outcome` is `other`. */
  providerOutcome?: string;
}

/** Only to break ties between callbacks of the same `Date`. */
const lifecycle: readonly string[] = postalStates;

const restingStates = new Set(["Cancelled", "Disposed"]);

export function postalView(
  events: ProviderEvent[],
  snapshot: PostalSnapshot | undefined,
): PostalView {
  const reported = newest(events.filter(({ affidavit }) => !affidavit));
  const state = snapshot?.state;
  const resting = state !== undefined && restingStates.has(state);
  return {
    closed: state === "Closed",
    resting,
    timeline: events.map(entryOf),
    ...(state === undefined ? {} : { state }),
    ...(reported ? { reportedState: reported.kind } : {}),
    ...outcomeOf(resting && isOpen(snapshot?.outcome) ? state : snapshot?.outcome),
  };
}

/** A callback that reports an end; the answer to a query confirms it. */
export function reportsEnd({ kind }: ProviderEvent): boolean {
  return endStates.has(kind);
}

/** The callbacks that trigger a query: those that report an end, and those that answer a request for an affidavit. */
export function hintsAtEnd(event: ProviderEvent): boolean {
  return reportsEnd(event) || event.affidavit?.requestId !== undefined;
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

/** By the provider's `Date`, ties by lifecycle rank, then id. */
function newest(events: ProviderEvent[]): ProviderEvent | undefined {
  const rank = ({ at, kind, id }: ProviderEvent) =>
    `${at} ${String(lifecycle.indexOf(kind) + 1).padStart(2, "0")} ${id}`;
  return events.reduce<ProviderEvent | undefined>(
    (best, event) => (best && rank(best) >= rank(event) ? best : event),
    undefined,
  );
}

/** `Cancelled` and `Disposed` are outcomes too: a state says it where the outcome does not yet (docs/reading-the-specification.md §2). */
function isOpen(outcome: string | undefined): boolean {
  return outcome === undefined || outcome === "None";
}

function outcomeOf(word: string | undefined): Pick<PostalView, "outcome" | "providerOutcome"> {
  if (word === undefined) return {};
  const outcome = postalOutcomes.find((name) => name.toLowerCase() === word.toLowerCase());
  return outcome ? { outcome } : { outcome: "other", providerOutcome: word };
}
