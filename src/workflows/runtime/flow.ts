// A running process, composed of what it knows (event-log.ts), what it shows (status.ts), what waits for a person (attention.ts)
// and how it runs (lifecycle.ts); and the messages that every process takes.
import {
  log as logger,
  patched,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import {
  providerEvents,
  repaired,
  resolve,
  status,
  surplus,
} from "../../contracts/shared/messages.js";
import type { Repair, Surplus } from "../../contracts/shared/messages.js";
import { Attentions } from "./attention.js";
import { EventLog } from "./event-log.js";
import type { ReportsEnd, Snapshot, View, ViewOf } from "./event-log.js";
import { Lifecycle } from "./lifecycle.js";
import { ProcessStatusBoard } from "./status.js";

export class Flow<S extends Snapshot, V extends View> {
  readonly log: EventLog<S, V>;
  readonly status: ProcessStatusBoard;
  readonly attentions: Attentions;
  readonly lifecycle: Lifecycle;
  readonly #repairedRuns = new Set<string>();

  /** `reportsEnd`: which callbacks say that the provider has come to its end; default: none. */
  constructor(viewOf: ViewOf<S, V>, reportsEnd?: ReportsEnd) {
    this.log = new EventLog(viewOf, () => this.status.refresh(), reportsEnd);
    this.attentions = new Attentions({
      note: (entry) => this.log.note(entry),
      attentionChanged: () => this.status.attentionChanged(),
      proposalsChanged: () => this.status.proposalsChanged(),
    });
    this.status = new ProcessStatusBoard(this.log, this.attentions);
    this.lifecycle = new Lifecycle(this.status, this.attentions);
    this.#takeMessages();
  }

  #takeMessages(): void {
    setHandler(status, () => this.status.current(), { description: "Where the process stands" });
    setHandler(providerEvents, (events) => this.log.applyEvents(events), {
      description: "Callbacks of the provider",
    });
    setHandler(surplus, (told) => this.#applySurplus(told), {
      description: "More callbacks came than the process is told of",
    });
    setHandler(repaired, (repair) => this.#noteRepair(repair), {
      description: "The clean-up reset a process that was stuck",
    });
    setDefaultSignalHandler((name) =>
      logger.warn("a signal without a handler was dropped", { signal: name }),
    );
    this.lifecycle.onDecision(
      resolve,
      "A person's decision on an attention",
      (resolution, who) => this.attentions.resolve(resolution, who),
      (resolution) => this.attentions.validate(resolution),
    );
  }

  /** A signal's handler must not throw. A worker of the release before drops this signal: in its history it changes nothing. */
  #applySurplus(told: Partial<Surplus> | null | undefined): void {
    if (typeof told?.count === "number" && patched("surplus")) this.log.applySurplus(told.count);
  }

  /** The signal may arrive twice, and in the run that was not reset. A signal's handler must not throw. */
  #noteRepair(repair: Partial<Repair> | null | undefined): void {
    const { runId, since } = repair ?? {};
    if (typeof runId !== "string" || typeof since !== "string") return;
    if (runId === workflowInfo().runId || this.#repairedRuns.has(runId)) return;
    this.#repairedRuns.add(runId);
    this.log.note({
      source: "process",
      event: "Repaired: reset to the last good workflow task",
      note: `its workflow tasks had failed since ${since}`,
    });
  }
}

/** What steps, tracking and dialogues need of a flow, whatever its snapshot and view. */
export interface AnyFlow {
  readonly log: Pick<
    EventLog<Snapshot, View>,
    | "endHints"
    | "events"
    | "hintEnd"
    | "lastEventAt"
    | "newsCount"
    | "note"
    | "surplusSignals"
    | "view"
  >;
  readonly status: ProcessStatusBoard;
  readonly attentions: Attentions;
  readonly lifecycle: Lifecycle;
}
