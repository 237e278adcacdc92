// A running process, composed of its event log (event-log.ts), its status (status.ts), its attentions (attention.ts) and its
// lifecycle (lifecycle.ts), with the messages that every process accepts.
import {
  log as logger,
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
import type { ProcessResult } from "../../contracts/shared/status.js";
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

  /** `reportsEnd`: the callbacks that report an end; default: none. */
  constructor(viewOf: ViewOf<S, V>, reportsEnd?: ReportsEnd) {
    this.log = new EventLog(viewOf, () => this.status.refresh(), reportsEnd);
    this.attentions = new Attentions(this);
    this.status = new ProcessStatusBoard(this.log, this.attentions);
    this.lifecycle = new Lifecycle(this.status, this.attentions);
    this.#takeMessages();
  }

  /** The results of all processes have these members. */
  result<P extends string>(processName: P) {
    const { id, references } = this.status;
    const { documents, timeline } = this.log;
    return { process: processName, id, references, documents: [...documents.values()], timeline };
  }

  #takeMessages(): void {
    setHandler(status, (asked) => (asked?.full ? this.status.full() : this.status.current()), {
      description: "Where the process stands",
    });
    setHandler(providerEvents, (events) => this.log.applyEvents(events), {
      description: "Callbacks of the provider",
    });
    setHandler(surplus, (told) => this.#applySurplus(told), {
      description: "The process has more callbacks than it receives",
    });
    setHandler(repaired, (repair) => this.#noteRepair(repair), {
      description: "The clean-up has reset this stuck process",
    });
    setDefaultSignalHandler((name) =>
      logger.warn("dropped a signal that has no handler", { signal: name }),
    );
    this.lifecycle.onDecision(
      resolve,
      "An operator's decision on an attention",
      ["attention", "decision", "confirmRetry", "result"],
      (resolution, who) => this.attentions.resolve(resolution, who),
      (resolution) => this.attentions.validate(resolution),
    );
  }

  /** A signal's handler must not throw. */
  #applySurplus(told: Partial<Surplus> | null | undefined): void {
    if (typeof told?.count === "number") this.log.applySurplus(told.count);
  }

  /** The signal may arrive twice, and in the run that was not reset. A signal's handler must not throw. */
  #noteRepair(repair: Partial<Repair> | null | undefined): void {
    const { runId, since } = repair ?? {};
    if (typeof runId !== "string" || typeof since !== "string") return;
    if (runId === workflowInfo().runId || this.#repairedRuns.has(runId)) return;
    this.#repairedRuns.add(runId);
    this.log.note(
      "Repaired: reset to the last good workflow task",
      `its workflow tasks had failed since ${since}`,
    );
  }
}

/** A process: its steps, and the result with which it ends. */
interface Path<R extends Pick<ProcessResult, "documents">> {
  readonly flow: AnyFlow;
  main(): Promise<void>;
  result(): R;
}

export function run<R extends Pick<ProcessResult, "documents">>(path: Path<R>): Promise<R> {
  path.flow.status.documents = () => path.result().documents;
  return path.flow.lifecycle.run(path);
}

/** Steps, tracking and dialogues need this much of a flow, whatever its snapshot and view. */
export interface AnyFlow {
  readonly log: Pick<
    EventLog<Snapshot, View>,
    | "add"
    | "endHints"
    | "events"
    | "hintEnd"
    | "isEndReported"
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
