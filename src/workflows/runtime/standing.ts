// Where a process stands, and how people see it: the status, the Web UI's details, the search attributes. What it knows is in
// facts.ts, how it runs and ends in process.ts.
import {
  ApplicationFailure,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { parseWorkflowId, proposalsMemo, searchAttributes } from "../../contracts/shared/names.js";
import type {
  Phase,
  ProcessStatus,
  References,
  ShownFailure,
} from "../../contracts/shared/status.js";
import { Attentions } from "./attention.js";
import { now } from "./clock.js";
import { renderDetails } from "../display/details.js";
import { Facts } from "./facts.js";
import type { Snapshot, View, ViewOf } from "./facts.js";
import { showDetails } from "../display/markdown.js";

export abstract class Standing<S extends Snapshot, V extends View> extends Facts<S, V> {
  readonly process: string;
  readonly id: string;
  environment: ProcessStatus["environment"] = "unknown";
  account = "default";
  phase: Phase = "submitting";
  references: References = {};
  readonly attentions: Attentions;
  /** The outcome where the process, not the provider, ended it. */
  ownOutcome: string | undefined;
  failure: ShownFailure | undefined;
  deadline: Date | undefined;
  #waiting: { for: string; until?: Date } | undefined;

  constructor(viewOf: ViewOf<S, V>) {
    super(viewOf);
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
    this.attentions = new Attentions(this);
  }

  get outcome(): string | undefined {
    return this.ownOutcome ?? this.view.outcome;
  }

  /** What the details show it waits for; undefined: nothing any more. */
  waitFor(what: string | undefined, until?: Date): void {
    this.#waiting = what === undefined ? undefined : { for: what, ...(until && { until }) };
    this.changed();
  }

  identify(told: { environment: string; account: string }): void {
    this.environment = told.environment as ProcessStatus["environment"];
    this.account = told.account;
  }

  /** The effect exists, and the process waits for something else than the provider. */
  exists(phase: Phase, references: References, deadline?: Date): void {
    this.references = references;
    this.deadline = deadline;
    this.lastHeard = now();
    this.phase = phase;
    this.publish();
  }

  enter(phase: Phase): void {
    this.phase = phase;
    this.changed();
  }

  status(): ProcessStatus {
    const { state, reportedState } = this.view;
    const { first: attention, more } = this.attentions;
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
      ...(more.length > 0 ? { moreAttentions: more } : {}),
      ...(this.failure ? { failure: this.failure } : {}),
      timeline: this.timeline,
    };
  }

  override changed(): void {
    showDetails(renderDetails(this.status()));
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

  /** The end: nothing is waited for, and no attention changes what is shown any more. */
  conclude(): void {
    this.phase = "ended";
    this.#waiting = undefined;
    this.publish();
  }

  /** The memo is what `list` reads, and is encrypted. */
  proposalsChanged(): void {
    if (this.phase === "ended") return;
    const { proposals } = this.attentions;
    upsertMemo({ [proposalsMemo]: proposals.length > 0 ? proposals : null });
    this.changed();
  }

  attentionChanged(): void {
    if (this.phase === "ended") return;
    upsertSearchAttributes([
      { key: searchAttributes.attention, value: this.attentions.first?.kind ?? null },
      { key: searchAttributes.phase, value: this.phase },
      { key: searchAttributes.account, value: this.account },
    ]);
    this.changed();
  }
}
