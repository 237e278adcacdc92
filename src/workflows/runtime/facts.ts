// What a process knows: a grow-only set of events by `Identifier`, the newest query snapshot, documents, and its own log.
// Everything shown is derived from them by a pure view (docs/design.md §3).
import { endStates } from "../../contracts/shared/names.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { ProcessDocument, TimelineEntry } from "../../contracts/shared/status.js";
import { now } from "./clock.js";
import { bounded, cut } from "../display/timeline.js";

/** The newest query answer; `stamp` is the database's clock before the question was sent. */
export interface Snapshot {
  stamp: string;
  state: string;
  /** Differs where anything that matters differs. */
  fingerprint: string;
}

/** What facts and snapshot say; a pure function of both. */
export interface View {
  state?: string;
  reportedState?: string;
  outcome?: string;
  /** The provider's tracking is complete. */
  closed: boolean;
  /** An end state that `Closed` may still follow. */
  resting: boolean;
  timeline: TimelineEntry[];
}

export type ViewOf<S, V> = (events: ProviderEvent[], snapshot: S | undefined) => V;

/** A genuine communication has a dozen events; what a leaked address is flooded with beyond this is only counted. */
const eventsKept = 1_000;

export abstract class Facts<S extends Snapshot, V extends View> {
  /** Each version of each document once, in the order of their finding. */
  readonly documents = new Map<string, ProcessDocument>();
  /** The states that queries have shown, in order. */
  readonly seenStates: string[] = [];
  lastHeard = now();
  /** How often something was heard: events, or a query's answer. */
  timesHeard = 0;
  /** How often it was told that there are more callbacks than it is told of. */
  surplusHeard = 0;
  /** Reasons of our own to think that it is over. */
  ownClaims = 0;
  snapshot: S | undefined;
  readonly #events = new Map<string, ProviderEvent>();
  readonly #log: TimelineEntry[] = [];
  readonly #viewOf: ViewOf<S, V>;
  #view: V;
  #unkept = 0;
  #surplus = 0;

  constructor(viewOf: ViewOf<S, V>) {
    this.#viewOf = viewOf;
    this.#view = viewOf([], undefined);
  }

  abstract changed(): void;

  get view(): V {
    return this.#view;
  }

  get events(): ProviderEvent[] {
    return [...this.#events.values()];
  }

  /** Of our own entries and of the callbacks so much each as a status and a result have room for (docs/decisions/0020). */
  get timeline(): TimelineEntry[] {
    const own = bounded(this.#log);
    const reported = bounded(this.#view.timeline);
    const entries = [...own.kept, ...reported.kept].toSorted((a, b) =>
      a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
    );
    const callbacks = reported.leftOut + this.#unkept + this.#surplus;
    const at = this.lastHeard.toISOString();
    const source = "process";
    if (own.leftOut > 0)
      entries.push({ at, source, event: `${own.leftOut} entries of the process are left out` });
    if (callbacks > 0)
      entries.push({
        at,
        source,
        event: `${callbacks} more callbacks are left out: "trustflow callbacks list" shows them`,
      });
    return entries;
  }

  note(entry: Omit<TimelineEntry, "at">): void {
    this.#log.push(cut({ at: now().toISOString(), ...entry }));
    this.changed();
  }

  /** So many callbacks came that the process is not told of each: any of them may have claimed the end. */
  hearSurplus(count: number): void {
    this.#surplus = Math.max(this.#surplus, count);
    this.surplusHeard += 1;
    this.claimEnd();
    this.changed();
  }

  /** The provider is asked, as after a callback that claims the end. */
  claimEnd(): void {
    this.ownClaims += 1;
  }

  keep(documents: ProcessDocument[]): void {
    for (const document of documents) this.documents.set(keyOf(document), document);
  }

  /** Takes a query's answer; the greatest stamp stands. */
  take(snapshot: S, documents: ProcessDocument[], flag?: string): void {
    this.keep(documents);
    this.#heard();
    if (this.snapshot && snapshot.stamp <= this.snapshot.stamp) return;
    const moved = this.snapshot?.state !== snapshot.state;
    if (moved) this.seenStates.push(snapshot.state);
    this.snapshot = snapshot;
    this.#view = this.#viewOf(this.events, snapshot);
    if (moved)
      this.note({ source: "query", event: snapshot.state, ...(flag ? { note: flag } : {}) });
    else this.changed();
  }

  /** A signal's handler must not throw: what is no event is dropped. */
  hear(events: ProviderEvent[]): void {
    for (const event of Array.isArray(events) ? events.filter(isEvent) : []) {
      if (this.#events.has(event.id)) continue;
      if (this.#events.size >= eventsKept) {
        this.#unkept += 1;
        if (endStates.has(event.kind)) this.claimEnd();
        continue;
      }
      this.#events.set(event.id, event);
      this.#heard();
    }
    this.#view = this.#viewOf(this.events, this.snapshot);
    this.changed();
  }

  #heard(): void {
    this.lastHeard = now();
    this.timesHeard += 1;
  }
}

/** Each document by its id, or where the provider gives none by its name: two may have the same content. */
function keyOf({ kind, uniqueId, description = "", document }: ProcessDocument): string {
  return `${uniqueId ?? `${kind}:${description}`}:${document.sha256}`;
}

function isEvent(event: Partial<ProviderEvent> | null | undefined): event is ProviderEvent {
  return [event?.id, event?.kind, event?.at].every((part) => typeof part === "string");
}
