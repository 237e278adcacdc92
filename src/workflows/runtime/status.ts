// The status of a process as people see it: the status query, the Web UI's details, the search attributes and the memo.
import {
  ApplicationFailure,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { proposalsMemo, searchAttributes, splitWorkflowId } from "../../contracts/shared/names.js";
import type {
  Phase,
  ProcessStatus,
  References,
  ShownFailure,
} from "../../contracts/shared/status.js";
import type { Attentions } from "./attention.js";
import { now } from "./clock.js";
import { renderDetails } from "../display/details.js";
import type { EventLog, Snapshot, View } from "./event-log.js";
import { showDetails } from "../display/markdown.js";

/** What the status shows of the event log. */
type ShownLog = Pick<EventLog<Snapshot, View>, "view" | "timeline" | "lastEventAt">;
/** What the status shows of the open attentions. */
type ShownAttentions = Pick<Attentions, "first" | "more" | "proposals">;

export interface OwnStatus {
  /** More members of the status, which the process's own contract names. */
  members(): object;
  /** The same as lines of the details, each with its name. */
  lines(): [name: string, text: string][];
}

export class ProcessStatusBoard {
  readonly process: string;
  readonly id: string;
  environment: ProcessStatus["environment"] = "unknown";
  account = "default";
  phase: Phase = "submitting";
  references: References = {};
  /** The outcome, when the process and not the provider ended it. */
  ownOutcome: string | undefined;
  failure: ShownFailure | undefined;
  deadline: Date | undefined;
  /** What a process shows beside what all processes show. */
  own: OwnStatus | undefined;
  readonly #log: ShownLog;
  readonly #attentions: ShownAttentions;
  #waiting: { for: string; until?: Date } | undefined;

  constructor(log: ShownLog, attentions: ShownAttentions) {
    const { workflowId, workflowType } = workflowInfo();
    const name = splitWorkflowId(workflowId);
    if (name?.process !== workflowType)
      throw ApplicationFailure.nonRetryable(
        "The workflow id is not one of Trustflow's",
        "InvalidInput",
        { fields: [{ path: "id", problem: "the workflow id must be <process>/<business id>" }] },
      );
    this.process = name.process;
    this.id = name.id;
    this.#log = log;
    this.#attentions = attentions;
  }

  get outcome(): string | undefined {
    return this.ownOutcome ?? this.#log.view.outcome;
  }

  /** What the process waits for, for the details; undefined if it waits for nothing. */
  waitFor(what: string | undefined, until?: Date): void {
    this.#waiting = what === undefined ? undefined : { for: what, ...(until && { until }) };
    this.refresh();
  }

  identify(identity: { environment: string; account: string }): void {
    this.environment = identity.environment as ProcessStatus["environment"];
    this.account = identity.account;
  }

  /** The effect exists with these `references`; the process waits at most until `deadline`. */
  effectExists(phase: Phase, references: References, deadline?: Date): void {
    this.references = references;
    this.deadline = deadline;
    this.#log.lastEventAt = now();
    this.phase = phase;
    this.publish();
  }

  enter(phase: Phase): void {
    this.phase = phase;
    this.refresh();
  }

  current(): ProcessStatus {
    const { state, reportedState } = this.#log.view;
    const { first: attention, more } = this.#attentions;
    const waiting = this.#waiting;
    return {
      process: this.process,
      id: this.id,
      environment: this.environment,
      account: this.account,
      phase: this.phase,
      ...(waiting && !attention ? { waitingFor: waiting.for } : {}),
      ...(attention ? { waitingFor: `an operator decision: ${attention.reason}` } : {}),
      ...(waiting?.until && !attention ? { until: waiting.until.toISOString() } : {}),
      ...(state === undefined ? {} : { state }),
      ...(reportedState === undefined ? {} : { reportedState }),
      ...(this.outcome === undefined ? {} : { outcome: this.outcome }),
      references: this.references,
      ...(attention ? { attention } : {}),
      ...(more.length > 0 ? { moreAttentions: more } : {}),
      ...(this.failure ? { failure: this.failure } : {}),
      ...this.own?.members(),
      timeline: this.#log.timeline,
    };
  }

  /** Shows the current status in the Web UI. */
  refresh(): void {
    showDetails(renderDetails(this.current(), this.own?.lines()));
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
    this.refresh();
  }

  /** The end: the process waits for nothing, and no attention changes what is shown any more. */
  conclude(): void {
    this.phase = "ended";
    this.#waiting = undefined;
    this.publish();
  }

  /** The memo is what `list` reads, and is encrypted. */
  proposalsChanged(): void {
    if (this.phase === "ended") return;
    const { proposals } = this.#attentions;
    upsertMemo({ [proposalsMemo]: proposals.length > 0 ? proposals : null });
    this.refresh();
  }

  attentionChanged(): void {
    if (this.phase === "ended") return;
    upsertSearchAttributes([
      { key: searchAttributes.attention, value: this.#attentions.first?.kind ?? null },
      { key: searchAttributes.phase, value: this.phase },
      { key: searchAttributes.account, value: this.account },
    ]);
    this.refresh();
  }
}
