// One running process: what it knows, shows and answers. The steps live in steps.ts, the waiting in follow.ts.
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  log,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { UpdateDefinition } from "@temporalio/common";
import { providerEvents, resolve, status } from "../contracts/messages.js";
import { parseWorkflowId, searchAttributes } from "../contracts/names.js";
import type { ProviderEvent } from "../contracts/provider-event.js";
import type {
  Phase,
  ProcessDocument,
  ProcessStatus,
  References,
  TimelineEntry,
} from "../contracts/status.js";
import { Attentions } from "./attention.js";
import { deferred } from "./deferred.js";
import { renderDetails } from "./details.js";

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

/** Ends the main path: the effect was withdrawn before it was sent. */
export class Withdrawn extends Error {}

export class Process<S extends Snapshot, V extends View> {
  readonly process: string;
  readonly id: string;
  environment: ProcessStatus["environment"] = "unknown";
  account = "default";
  phase: Phase = "submitting";
  references: References = {};
  /** Affidavits, each version once, in the order of their finding. */
  readonly documents = new Map<string, ProcessDocument>();
  readonly attentions: Attentions;
  /** The outcome where the process, not the provider, ended it. */
  ownOutcome: string | undefined;
  deadline: Date | undefined;
  lastHeard = new Date();
  ownClaims = 0;
  readonly seenStates: string[] = [];
  /** Resolves when the effect was withdrawn before it was sent. */
  readonly withdrawal: Promise<"withdrawn">;
  readonly withdraw: () => void;
  snapshot: S | undefined;
  readonly #events = new Map<string, ProviderEvent>();
  readonly #log: TimelineEntry[] = [];
  readonly #viewOf: ViewOf<S, V>;
  #view: V;
  #waiting: { for: string; until?: Date } | undefined;
  #ending = false;

  constructor(viewOf: ViewOf<S, V>) {
    const { workflowId } = workflowInfo();
    const name = parseWorkflowId(workflowId);
    if (!name)
      throw ApplicationFailure.nonRetryable(
        "The workflow id is not one of Trustflow's",
        "InvalidInput",
        { fields: [{ path: "id", problem: "the workflow id must be <process>/<business id>" }] },
      );
    this.process = name.process;
    this.id = name.id;
    this.#viewOf = viewOf;
    this.#view = viewOf([], undefined);
    this.attentions = new Attentions(() => this.#attentionChanged());
    const { promise, settle } = deferred<"withdrawn">();
    this.withdrawal = promise;
    this.withdraw = () => settle("withdrawn");

    setHandler(status, () => this.status(), { description: "Where the process stands" });
    setHandler(providerEvents, (events) => this.#hear(events), {
      description: "Callbacks of the provider",
    });
    setDefaultSignalHandler((name) =>
      log.warn("a signal without a handler was dropped", { signal: name }),
    );
    this.onUpdate(
      resolve,
      "A person's decision on an attention",
      (resolution) => this.attentions.resolve(resolution, (entry) => this.note(entry)),
      (resolution) => this.attentions.validate(resolution),
    );
  }

  get view(): V {
    return this.#view;
  }

  get events(): ProviderEvent[] {
    return [...this.#events.values()];
  }

  get outcome(): string | undefined {
    return this.ownOutcome ?? this.#view.outcome;
  }

  get timeline(): TimelineEntry[] {
    return [...this.#log, ...this.#view.timeline].toSorted((a, b) =>
      a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
    );
  }

  /** An update that answers within 20 s, never raises attention, and is refused once the process ends. */
  onUpdate<R, A extends unknown[]>(
    definition: UpdateDefinition<R, A>,
    description: string,
    handler: (...args: A) => Promise<R> | R,
    validate?: (...args: A) => void,
  ): void {
    setHandler(
      definition,
      (...args: A) => CancellationScope.nonCancellable(async () => handler(...args)),
      {
        description,
        validator: (...args: A) => {
          if (this.#ending)
            throw ApplicationFailure.nonRetryable("The process has ended", "Finished");
          validate?.(...args);
        },
      },
    );
  }

  /** The Web UI's Cancel, or any client's: the same as the update `cancel`. */
  onCancelRequested(handler: () => Promise<void>): void {
    CancellationScope.current().cancelRequested.catch(() =>
      CancellationScope.nonCancellable(handler),
    );
  }

  note(entry: Omit<TimelineEntry, "at">): void {
    this.#log.push({ at: new Date().toISOString(), ...entry });
    this.changed();
  }

  /** What the details show it waits for. */
  waitFor(what: string, until?: Date): void {
    this.#waiting = until ? { for: what, until } : { for: what };
    this.changed();
  }

  identify(told: { environment: string; account: string }): void {
    this.environment = told.environment as ProcessStatus["environment"];
    this.account = told.account;
  }

  /** The effect exists: from here on it is followed until `deadlineSeconds` have passed. */
  track(references: References, deadlineSeconds: number): void {
    this.references = references;
    this.deadline = new Date(Date.now() + deadlineSeconds * 1_000);
    this.lastHeard = new Date();
    this.phase = "tracking";
    this.publish();
  }

  enter(phase: Phase): void {
    this.phase = phase;
    this.changed();
  }

  /** We have reason to think that it is over, so the provider is asked. */
  claimEnd(): void {
    this.ownClaims += 1;
  }

  /** Takes a query's answer; the greatest stamp stands. */
  take(snapshot: S, documents: ProcessDocument[], flag?: string): void {
    for (const document of documents) {
      this.documents.set(
        `${document.uniqueId ?? document.kind}:${document.document.sha256}`,
        document,
      );
    }
    this.lastHeard = new Date();
    if (this.snapshot && snapshot.stamp <= this.snapshot.stamp) return;
    const moved = this.snapshot?.state !== snapshot.state;
    if (moved) this.seenStates.push(snapshot.state);
    this.snapshot = snapshot;
    this.#view = this.#viewOf(this.events, snapshot);
    if (moved)
      this.note({ source: "query", event: snapshot.state, ...(flag ? { note: flag } : {}) });
    else this.changed();
  }

  status(): ProcessStatus {
    const { state, reportedState } = this.#view;
    const attention = this.attentions.first;
    const waiting = this.#waiting;
    return {
      process: this.process,
      id: this.id,
      environment: this.environment,
      account: this.account,
      phase: this.phase,
      ...(waiting && !attention ? { waitingFor: waiting.for } : {}),
      ...(attention ? { waitingFor: `a person: ${attention.reason}` } : {}),
      ...(waiting?.until && !attention ? { until: waiting.until.toISOString() } : {}),
      ...(state === undefined ? {} : { state }),
      ...(reportedState === undefined ? {} : { reportedState }),
      ...(this.outcome === undefined ? {} : { outcome: this.outcome }),
      references: this.references,
      ...(attention ? { attention } : {}),
      timeline: this.timeline,
    };
  }

  changed(): void {
    setCurrentDetails(renderDetails(this.status()));
  }

  /** The search attributes; each upsert is an event, so only after the submit, with attention, and at the end. */
  publish(): void {
    upsertSearchAttributes([
      { key: searchAttributes.phase, value: this.phase },
      { key: searchAttributes.account, value: this.account },
      { key: searchAttributes.references, value: Object.values(this.references).slice(0, 20) },
      ...(this.deadline ? [{ key: searchAttributes.deadline, value: this.deadline }] : []),
      ...(this.outcome === undefined
        ? []
        : [{ key: searchAttributes.outcome, value: this.outcome }]),
    ]);
    this.changed();
  }

  /**
   * Runs the main path so that no cancellation leaves an effect untracked; at the end refuses new updates, lets the
   * running ones answer, and returns.
   */
  async run<R>(main: () => Promise<void>, result: () => R): Promise<R> {
    return CancellationScope.nonCancellable(async () => {
      try {
        await main();
      } catch (error) {
        if (!(error instanceof Withdrawn)) {
          await this.#end();
          throw error;
        }
        this.ownOutcome = "cancelledBeforeSubmit";
      }
      await this.#end();
      return result();
    });
  }

  async #end(): Promise<void> {
    this.#ending = true;
    await condition(allHandlersFinished);
    this.phase = "ended";
    this.#waiting = undefined;
    this.publish();
  }

  /** A signal's handler must not throw: what is no event is dropped. */
  #hear(events: ProviderEvent[]): void {
    for (const event of Array.isArray(events) ? events.filter(isEvent) : []) {
      if (this.#events.has(event.id)) continue;
      this.#events.set(event.id, event);
      this.lastHeard = new Date();
    }
    this.#view = this.#viewOf(this.events, this.snapshot);
    this.changed();
  }

  #attentionChanged(): void {
    if (this.phase === "ended") return;
    upsertSearchAttributes([
      { key: searchAttributes.attention, value: this.attentions.first?.kind ?? null },
    ]);
    this.changed();
  }
}

function isEvent(event: Partial<ProviderEvent> | null | undefined): event is ProviderEvent {
  return [event?.id, event?.kind, event?.at].every((part) => typeof part === "string");
}

/** What steps and following need of a process, whatever its snapshot and view. */
export type AnyProcess = Pick<
  Process<Snapshot, View>,
  | "account"
  | "attentions"
  | "environment"
  | "events"
  | "identify"
  | "lastHeard"
  | "ownClaims"
  | "ownOutcome"
  | "view"
  | "waitFor"
  | "withdrawal"
>;
