// A process knows the provider's events by `Identifier`, the newest query answer, its documents, and its own log. Everything that is shown
// is derived from them by a pure view (docs/design.md §3).
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type {
  ProcessDocument,
  ProcessStatus,
  ShownItem,
  TimelineEntry,
} from "../../contracts/shared/status.js";
import { now } from "./clock.js";
import { plainText } from "../../contracts/shared/text.js";

/** The newest query answer; `stamp` is the database's clock before the query was sent. */
export interface Snapshot {
  stamp: string;
  state: string;
  /** Differs when anything that matters differs. */
  fingerprint: string;
  shown?: ShownItem | undefined;
}

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

/** Whether a callback reports an end; only the provider's answer confirms it. */
export type ReportsEnd = (event: ProviderEvent) => boolean;

export type ViewOf<S, V> = (events: ProviderEvent[], snapshot: S | undefined) => V;

/**
 * The number of events that are kept. A genuine communication has a dozen events; a leaked address may bring any number, so
 * more are only counted.
 */
const MAX_EVENTS_KEPT = 1_000;

export class EventLog<S extends Snapshot, V extends View> {
  /** Each version of each document once, in the order in which they were found. */
  readonly documents = new Map<string, ProcessDocument>();
  /** The states that queries have shown, in order. */
  readonly seenStates: string[] = [];
  /** When the last event or query answer came, or the process began to wait for one. */
  lastEventAt = now();
  /** How many events and query answers came. */
  newsCount = 0;
  surplusSignals = 0;
  /** How often the process itself had a reason to query the provider for the end. */
  endHints = 0;
  snapshot: S | undefined;
  /** The times of callbacks are then those of the sandbox's clock. */
  hasVirtualClock = false;
  readonly #events = new Map<string, ProviderEvent>();
  readonly #entries: TimelineEntry[] = [];
  /** For each own entry, the number of callbacks that had arrived before it. */
  readonly #callbacksBefore: number[] = [];
  readonly #viewOf: ViewOf<S, V>;
  readonly #onChange: () => void;
  readonly #reportsEnd: ReportsEnd;
  #view: V;
  /** Events beyond those that are kept. */
  #unkept = 0;
  /** Surplus callbacks, which the process does not receive. */
  #surplus = 0;

  constructor(viewOf: ViewOf<S, V>, onChange: () => void, reportsEnd: ReportsEnd = () => false) {
    this.#viewOf = viewOf;
    this.#onChange = onChange;
    this.#reportsEnd = reportsEnd;
    this.#view = viewOf([], undefined);
  }

  get view(): V {
    return this.#view;
  }

  get events(): ProviderEvent[] {
    return [...this.#events.values()];
  }

  /** Whether a callback reports an end; only the provider's answer confirms it. */
  get isEndReported(): boolean {
    return this.events.some(this.#reportsEnd);
  }

  /** As many own entries and callbacks as a status and a result can show (docs/decisions/0020). */
  get timeline(): TimelineEntry[] {
    const logged = bounded(this.#entries);
    const reported = bounded(this.#reported);
    const entries = inOrder([...logged.kept, ...reported.kept]);
    const callbacks = reported.leftOut + this.#unkept + this.#surplus;
    const at = this.lastEventAt.toISOString();
    const source = "process";
    if (logged.leftOut > 0)
      entries.push({ at, source, event: `${logged.leftOut} entries of the process are not shown` });
    if (callbacks > 0)
      entries.push({
        at,
        source,
        event: `${callbacks} more callbacks are not shown: see "trustflow callbacks list"`,
      });
    return entries;
  }

  get said(): Pick<ProcessStatus, "reported" | "shown"> {
    const { kept } = bounded(
      this.events.flatMap(({ at, kind, about }) => (about ? [{ at, kind, ...about }] : [])),
    );
    return { reported: kept.length > 0 ? kept : undefined, shown: this.snapshot?.shown };
  }

  get #reported(): TimelineEntry[] {
    const { timeline } = this.#view;
    if (!this.hasVirtualClock) return timeline;
    return timeline.map(({ at, source, ...entry }) => ({ at, source, clock: "sandbox", ...entry }));
  }

  get entryCounts(): { logged: number; callbacks: number } {
    const callbacks = this.#view.timeline.length + this.#unkept + this.#surplus;
    return { logged: this.#entries.length, callbacks };
  }

  /** Returns the `count` entries that arrived last, in the order of their arrival: a late callback may state an early time. */
  latest(count: number): TimelineEntry[] {
    const timeline = this.#reported;
    const found: TimelineEntry[] = [];
    let logged = this.#entries.length;
    let callbacks = timeline.length;
    while (found.length < count && logged + callbacks > 0) {
      const isOwn = logged > 0 && (this.#callbacksBefore[logged - 1] ?? 0) >= callbacks;
      const entry = isOwn ? this.#entries[--logged] : timeline[--callbacks];
      if (entry) found.unshift(entry);
    }
    return found;
  }

  note(event: string, note?: string): void {
    this.add({ source: "process", event, note });
  }

  add(entry: Omit<TimelineEntry, "at">): void {
    this.#entries.push(cut({ at: now().toISOString(), ...entry }));
    this.#callbacksBefore.push(this.#view.timeline.length);
    this.#onChange();
  }

  /** Notes surplus callbacks: each of them may have reported the end. */
  applySurplus(count: number): void {
    this.#surplus = Math.max(this.#surplus, count);
    this.surplusSignals += 1;
    this.hintEnd();
    this.#onChange();
  }

  /** Makes the process query the provider for the end, as after a callback that reports an end. */
  hintEnd(): void {
    this.endHints += 1;
  }

  addDocuments(documents: ProcessDocument[]): void {
    for (const document of documents) {
      const key = keyOf(document);
      const { arrivedAt } = this.documents.get(key) ?? arrivedNow(document);
      this.documents.set(key, { ...document, ...(arrivedAt && { arrivedAt }) });
    }
  }

  /** Applies a query's answer; of several the one with the greatest stamp counts, or the first that shows the end. */
  applySnapshot(snapshot: S, documents: ProcessDocument[], flag?: string): void {
    this.addDocuments(documents);
    this.#countNews();
    const { stamp = "" } = this.snapshot ?? {};
    const isOlder = snapshot.stamp <= stamp;
    // No provider takes an end back: an older one says that the clock of the database has gone back.
    if (isOlder && (this.#view.closed || !this.#viewOf([], snapshot).closed)) return;
    const moved = this.snapshot?.state !== snapshot.state;
    if (moved) this.seenStates.push(snapshot.state);
    this.snapshot = isOlder ? { ...snapshot, stamp } : snapshot;
    this.#view = this.#viewOf(this.events, snapshot);
    if (moved) this.add({ source: "query", event: snapshot.state, note: flag });
    else this.#onChange();
  }

  /** A signal's handler must not throw, so anything that is not an event is dropped. */
  applyEvents(events: ProviderEvent[]): void {
    for (const event of Array.isArray(events) ? events.filter(isEvent) : []) {
      if (this.#events.has(event.id)) continue;
      if (this.#events.size >= MAX_EVENTS_KEPT) {
        this.#unkept += 1;
        if (this.#reportsEnd(event)) this.hintEnd();
        continue;
      }
      this.#events.set(event.id, event);
      this.#countNews();
    }
    this.#view = this.#viewOf(this.events, this.snapshot);
    this.#onChange();
  }

  #countNews(): void {
    this.lastEventAt = now();
    this.newsCount += 1;
  }
}

export function arrivedNow(document: ProcessDocument): ProcessDocument {
  return { ...document, arrivedAt: now().toISOString() };
}

/** Each document by its id, or by its name where the provider gives no id: two documents may have the same content. */
function keyOf({ kind, uniqueId, description = "", document }: ProcessDocument): string {
  return `${uniqueId ?? `${kind}:${description}`}:${document.sha256}`;
}

type Given = { [name in keyof ProviderEvent]?: ProviderEvent[name] | null } | null | undefined;

/** Whether the members that are read are texts. */
function isEvent(event: Given): event is ProviderEvent {
  const { id, kind, at, evidenceId = "", state = "", outcome = "", note = "" } = event ?? {};
  const { affidavit = { id: "" } } = event ?? {};
  return [
    id,
    kind,
    at,
    evidenceId,
    state,
    outcome,
    note,
    affidavit?.id,
    affidavit?.name ?? "",
  ].every((part) => typeof part === "string");
}

/** The view of a process whose provider reports no state: it shows the callbacks, and nothing else. */
export function plainView(events: ProviderEvent[]): View {
  return { closed: false, resting: false, timeline: events.map(entryOf) };
}

export function entryOf({ at, kind, outcome, note, affidavit }: ProviderEvent): TimelineEntry {
  const event = outcome ? `${kind} (${outcome})` : kind;
  const text = affidavit ? (affidavit.name ?? affidavit.id) : note;
  return { at, source: "callback", event, ...(text ? { note: text } : {}) };
}

const encoder = new TextEncoder();
/**
 * The limit in bytes of JSON for the process's own entries, and for the callbacks: a status and a result are one payload each, and Temporal
 * refuses payloads above 2 MB (docs/decisions/0020).
 */
export const MAX_TIMELINE_BYTES = 150_000;
/** Limits a text of a person or a provider, in bytes. */
export const maxBytes = { event: 500, by: 500, note: 2_000 };

/** The limits of the timeline in a memo, which is written with each change: a warning of Temporal's begins at 2 kB. */
export const MAX_NEWEST = 5;
const MAX_NEWEST_BYTES = 800;
/** The limits in bytes for a text in a memo. */
const maxNewestBytes: typeof maxBytes = { event: 120, by: 60, note: 150 };

/** The last of the `arrivals` and as many before it as there is room for in a memo, in the order of the times that they state. */
export function newest(arrivals: readonly TimelineEntry[]): TimelineEntry[] {
  const backward = arrivals.map((entry) => cut(entry, maxNewestBytes)).toReversed();
  return inOrder(backward.slice(0, Math.max(1, fitting(backward, MAX_NEWEST_BYTES))).toReversed());
}

export function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
  return entries.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** The first entries and the newest, as many as there is room for: half of it for each. */
export function bounded<E extends object>(entries: readonly E[]): { kept: E[]; leftOut: number } {
  const head = fitting(entries, MAX_TIMELINE_BYTES / 2);
  const tail = fitting(entries.slice(head).toReversed(), MAX_TIMELINE_BYTES / 2);
  const leftOut = entries.length - head - tail;
  const kept = [...entries.slice(0, head), ...entries.slice(head + leftOut)];
  return { kept, leftOut };
}

/** How many of the first entries there is room for. */
function fitting(entries: readonly object[], maxBytes: number): number {
  let bytes = 0;
  const end = entries.findIndex((entry) => {
    bytes += encoder.encode(JSON.stringify(entry)).length + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? entries.length : end;
}

/** An entry that may quote a person or a provider. */
export function cut({ by, note, ...entry }: TimelineEntry, most = maxBytes): TimelineEntry {
  return {
    ...entry,
    event: plainText(entry.event, most.event),
    ...(by === undefined ? {} : { by: plainText(by, most.by) }),
    ...(note === undefined ? {} : { note: plainText(note, most.note) }),
  };
}
