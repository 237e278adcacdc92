// Shows a communication, from callbacks and the newest query. It is pure, so that order, number, loss and forgery of callbacks change
// neither state nor outcome (P2 §3.1, §3.2, §6.4). Certified post and notices differ in their words alone.
import type { EviSnapshot } from "../../activities/evi/ask.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { ReportsEnd, View, ViewOf } from "../runtime/event-log.js";
import { entryOf } from "../runtime/event-log.js";

export interface EviView<Outcome extends string = string> extends View {
  outcome?: Outcome | "other";
  /** The provider's word, where `outcome` is `other`. */
  providerOutcome?: string;
}

interface Words<Outcome extends string> {
  /** In the order of the specification: only to break ties between callbacks of the same `Date`. */
  states: readonly string[];
  /** In camelCase. */
  outcomes: readonly Outcome[];
  /** States that are outcomes too, and that `Closed` may still follow. */
  restingStates: ReadonlySet<string>;
}

export function viewOf<S extends EviSnapshot, Outcome extends string>({
  states,
  outcomes,
  restingStates,
}: Words<Outcome>): ViewOf<S, EviView<Outcome>> {
  return (events, snapshot) => {
    // An affidavit is a meta-event and no state (P2 §6.2), also where its callback names none.
    const reported = newest(
      events.filter(({ kind }) => kind !== "AffidavitPublished"),
      states,
    );
    const state = snapshot?.state;
    const resting = state !== undefined && restingStates.has(state);
    return {
      closed: state === "Closed",
      resting,
      timeline: events.map(entryOf),
      ...(state === undefined ? {} : { state }),
      ...(reported ? { reportedState: reported.kind } : {}),
      ...outcomeOf(outcomes, resting && isOpen(snapshot?.outcome) ? state : snapshot?.outcome),
    };
  };
}

/**
 * The callbacks that trigger a query: those that report an end, those that answer a request for an affidavit, and those of an affidavit
 * that was made again.
 */
export function hintsAtEnd(reportsEnd: ReportsEnd, event: ProviderEvent): boolean {
  const { affidavit } = event;
  return reportsEnd(event) || affidavit?.requestId !== undefined || affidavit?.regenerated === true;
}

/** By the provider's `Date`, ties by lifecycle rank, then id. */
function newest(events: ProviderEvent[], states: readonly string[]): ProviderEvent | undefined {
  const rank = ({ at, kind, id }: ProviderEvent) =>
    `${at} ${String(states.indexOf(kind) + 1).padStart(2, "0")} ${id}`;
  return events.reduce<ProviderEvent | undefined>(
    (best, event) => (best && rank(best) >= rank(event) ? best : event),
    undefined,
  );
}

/** A state says the outcome where the outcome does not yet (docs/reading-the-specification.md §2). */
function isOpen(outcome: string | undefined): boolean {
  return outcome === undefined || outcome === "None";
}

function outcomeOf<Outcome extends string>(
  outcomes: readonly Outcome[],
  word: string | undefined,
): Pick<EviView<Outcome>, "outcome" | "providerOutcome"> {
  if (word === undefined) return {};
  const outcome = outcomes.find((name) => name.toLowerCase() === word.toLowerCase());
  return outcome ? { outcome } : { outcome: "other", providerOutcome: word };
}
