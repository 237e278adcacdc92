// Shows people the status of a process: in the memo, by the status query, in the Web UI's details and in the search attributes.
import {
  ApplicationFailure,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { proposalsMemo, searchAttributes, splitWorkflowId } from "../../contracts/shared/names.js";
import type {
  Phase,
  ProcessDocument,
  ProcessStatus,
  References,
  ShownFailure,
  Attention,
  TimelineEntry,
} from "../../contracts/shared/status.js";
import type { Attentions } from "./attention.js";
import { now } from "./clock.js";
import { MAX_NEWEST, newest } from "./event-log.js";
import type { EventLog, Snapshot, View } from "./event-log.js";
import { showDetails, codeBlock, linesOf, markdown, withOptions } from "./markdown.js";
import type { Markdown } from "./markdown.js";
import { plainText } from "../../contracts/shared/text.js";
import { beginMemo } from "./status-memo.js";
import {
  commandOf,
  otpCommandOf,
  consequencesOf,
  proposedLine,
  traceLines,
} from "../../contracts/shared/decisions.js";

type ShownLog = Pick<
  EventLog<Snapshot, View>,
  "entryCounts" | "hasVirtualClock" | "lastEventAt" | "latest" | "said" | "timeline" | "view"
>;
type ShownAttentions = Pick<Attentions, "first" | "more" | "proposals">;

export interface OwnStatus {
  /** More members of the status, which the process's own contract names. */
  members(): object;
  /** Returns the same as lines of the details, each with its name. */
  lines(): [name: string, text: string][];
}

export class ProcessStatusBoard {
  readonly process: string;
  readonly id: string;
  environment: ProcessStatus["environment"] = "unknown";
  account = "default";
  phase: Phase = "submitting";
  references: References = {};
  /** The names of those that the input gave: of them no effect of this process is known. */
  readonly given = new Set<string>();
  /** The outcome, when the process and not the provider ended it. */
  ownOutcome: string | undefined;
  failure: ShownFailure | undefined;
  deadline: Date | undefined;
  ownStatus: OwnStatus | undefined;
  /** While the process waits for a code. */
  code: (() => ProcessStatus["code"]) | undefined;
  /** The documents of the result, as they would be now. */
  documents: (() => ProcessDocument[]) | undefined;
  readonly #log: ShownLog;
  readonly #attentions: ShownAttentions;
  #waiting: { for: string; until?: Date; next?: Date } | undefined;
  /** The calls under way, by what the details say of them. They are in no memo: Temporal itself shows them. */
  readonly #calls = new Map<symbol, string>();
  #hasChanged = false;
  #isAsking = false;
  /** The memo says this, in parts that are compared. */
  #noted: { status: string; reported: string; atEnd: string } | undefined;

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
    beginMemo(this);
    this.#showDetails();
  }

  get outcome(): string | undefined {
    return this.ownOutcome ?? this.#log.view.outcome;
  }

  /**
   * The details show `what`; undefined: the process waits for nothing. `until` is when the wait ends in any case; `next`, by default the
   * same, is when the process looks again: only the details show it, but each one has a memo, as in the histories that there are.
   */
  waitFor(what: string | undefined, until?: Date, next = until): void {
    this.#waiting =
      what === undefined
        ? undefined
        : { for: what, ...(until && { until }), ...(next && { next }) };
    this.refresh();
  }

  identify(identity: { environment: string; account: string }): void {
    this.environment = identity.environment as ProcessStatus["environment"];
    this.#log.hasVirtualClock = identity.environment === "sandbox";
    this.account = identity.account;
    this.refresh();
  }

  /** The effect exists with these `references`; the process waits at most until `deadline`. */
  effectExists(phase: Phase, references: References, deadline?: Date): void {
    this.references = references;
    this.deadline = deadline;
    this.#log.lastEventAt = now();
    this.phase = phase;
    this.publish();
  }

  /**
   * The provider is asked for the end that a callback reports: a callback alone makes no memo, until `asked` or an attention, with
   * which an answer may take days.
   */
  asking(): void {
    this.#isAsking = true;
  }

  asked(): void {
    this.#isAsking = false;
    this.refresh();
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
      waitingFor: attention ? `an operator decision: ${attention.reason}` : waiting?.for,
      until: attention ? undefined : waiting?.until?.toISOString(),
      code: attention ? undefined : this.code?.(),
      state,
      reportedState,
      outcome: this.outcome,
      references: this.references,
      attention,
      moreAttentions: more.length > 0 ? more : undefined,
      failure: this.failure,
      ...this.ownStatus?.members(),
      timeline: this.#log.timeline,
    };
  }

  /** With what memo and Web UI do not show. */
  full(): ProcessStatus {
    return { ...this.current(), ...this.#log.said, documents: this.documents?.() };
  }

  /** Shows the current status in the Web UI, and in the memo when the workflow task ends. */
  refresh(): void {
    this.#hasChanged = true;
    this.#showDetails();
  }

  /** The details show the call until the returned function is called. */
  showCall(summary: string): () => void {
    const call = Symbol(summary);
    this.#calls.set(call, summary);
    this.#showDetails();
    return () => {
      this.#calls.delete(call);
      this.#showDetails();
    };
  }

  #showDetails(): void {
    const next = this.#waiting?.next?.toISOString();
    const calls = [...this.#calls.values()];
    showDetails(renderDetails(this.current(), this.ownStatus?.lines(), calls, next));
  }

  /**
   * Returns what the memo has to say from now on; undefined if it says so, or if nothing is known yet that Temporal does not show by
   * itself. Each memo is an event. If the process `completes`, the result says all but `atEnd`.
   */
  takeMemo(completes: boolean): ProcessStatus | undefined {
    if (!this.#hasChanged) return undefined;
    this.#hasChanged = false;
    const before = this.#noted;
    const isNew = this.environment === "unknown" && this.phase === "submitting";
    if (isNew && !this.#attentions.first && !before) return undefined;
    const { timeline: _, ...rest } = this.current();
    const { reportedState, code: _code, until, ...status } = rest;
    const next = until && this.#waiting?.next?.toISOString();
    const { logged, callbacks } = this.#log.entryCounts;
    const known = {
      status: JSON.stringify([status, next, logged]),
      reported: JSON.stringify([reportedState, callbacks]),
      atEnd: JSON.stringify([this.environment, this.account, this.ownStatus?.members()]),
    };
    const isKnown =
      before !== undefined &&
      (completes
        ? before.atEnd === known.atEnd
        : before.status === known.status && (this.#isAsking || before.reported === known.reported));
    if (isKnown) return undefined;
    this.#noted = known;
    const timeline = newest(this.#log.latest(MAX_NEWEST));
    const earlierEntries = logged + callbacks - timeline.length;
    return { ...rest, timeline, ...(earlierEntries > 0 && { earlierEntries }) };
  }

  /** The search attributes; each upsert is an event, so only after the submit, with attention, and at the end. */
  publish(): void {
    upsertSearchAttributes([
      { key: searchAttributes.phase, value: this.phase },
      { key: searchAttributes.account, value: this.account },
      { key: searchAttributes.references, value: findableReferences(this.references) },
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
    this.code = undefined;
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
    if (this.#attentions.first) this.#isAsking = false;
    upsertSearchAttributes([
      { key: searchAttributes.attention, value: this.#attentions.first?.kind ?? null },
      { key: searchAttributes.phase, value: this.phase },
      { key: searchAttributes.account, value: this.account },
    ]);
    this.refresh();
  }
}

const MAX_REFERENCES = 20;
/** Temporal terminates a process with a search attribute of more than 2,048 bytes. */
const MAX_REFERENCES_BYTES = 1_900;

/** Those that fit: a provider's ids may have any length. The memo has all of them. */
function findableReferences(references: References): string[] {
  const found: string[] = [];
  for (const reference of Object.values(references).slice(0, MAX_REFERENCES)) {
    const json = JSON.stringify([...found, reference]);
    if (plainText(json, MAX_REFERENCES_BYTES) === json) found.push(reference);
  }
  return found;
}

// Shows a running process in the Web UI (docs/design.md §9). They are encrypted, but still contain no secret.

const MAX_TIMELINE_SHOWN = 40;
/** The Web UI (2.42) cuts off the last line of the details, so the last line is empty. */
const tail = markdown`
\u00a0
`;
const emptyLine = markdown``;

/** `ownLines` are those that only this process has; `calls` are under way; at `next` the process looks again by itself. */
export function renderDetails(
  status: ProcessStatus,
  ownLines: [string, string][] = [],
  calls: readonly string[] = [],
  next?: string,
): Markdown {
  const { process: processName, id, environment, account, phase, state, timeline } = status;
  const place =
    environment === "unknown" ? emptyLine : markdown` on ${environment}, account ${account}`;
  const lines = [
    markdown`**${processName}** **${id}**${place}`,
    emptyLine,
    markdown`- Phase: **${phase}**`,
  ];
  for (const attention of attentionsOf(status)) lines.push(...asking(status, attention));
  if (status.waitingFor && !status.attention) {
    const until = status.until ? markdown`, until ${status.until}` : emptyLine;
    lines.push(markdown`- Waits for: ${status.waitingFor}${until}`);
    // While a call is under way, its own line says what happens next.
    if (next !== undefined && next !== status.until && calls.length === 0)
      lines.push(markdown`- Asks by itself at: ${next}`);
  }
  if (status.code)
    lines.push(
      markdown`- Tries left: ${status.code.triesLeft}; further codes: ${status.code.resendsLeft}`,
      codeBlock(otpCommandOf(`${processName}/${id}`, status.code)),
    );
  // The process does not learn of an attempt that fails and is made again; the page shows each one.
  for (const call of calls)
    lines.push(
      markdown`- Now: ${call} (see Pending Activities for attempt, cause and next attempt)`,
    );
  if (state) lines.push(markdown`- State: **${state}** (confirmed)`);
  if (status.reportedState && status.reportedState !== state) {
    lines.push(markdown`- Reported by callback: ${status.reportedState}`);
  }
  if (status.failure)
    lines.push(markdown`- **Failed** as ${status.failure.type}: ${status.failure.message}`);
  if (status.outcome) lines.push(markdown`- Outcome: **${status.outcome}**`);
  for (const [name, value] of [...ownLines, ...Object.entries(status.references)]) {
    lines.push(markdown`- ${name}: ${value}`);
  }
  if (timeline.length > 0)
    lines.push(
      emptyLine,
      markdown`
**Timeline**
      `,
      emptyLine,
    );
  if (timeline.length > MAX_TIMELINE_SHOWN)
    lines.push(markdown`- … ${timeline.length - MAX_TIMELINE_SHOWN} earlier`);
  lines.push(...timeline.slice(-MAX_TIMELINE_SHOWN).map(entryLine), emptyLine, tail);
  return linesOf(lines);
}

function attentionsOf({ attention, moreAttentions = [] }: ProcessStatus): Attention[] {
  return attention ? [attention, ...moreAttentions] : [];
}

/** Says what a person is asked, what each decision does, and the command for it. */
function asking(status: ProcessStatus, attention: Attention): Markdown[] {
  const { process: processName, id } = status;
  const { kind, reason } = attention;
  const goesOnByItself = kind === "accessDenied" || kind === "unavailable";
  return [
    markdown`- **Needs an operator decision**: ${reason}`,
    ...traceLines(attention, status).map((line) => markdown`- ${line}`),
    ...(attention.proposed ? [markdown`- ${proposedLine(attention.proposed)}`] : []),
    ...(goesOnByItself
      ? [
          markdown`
- The process keeps trying and continues by itself once the cause is fixed
          `,
        ]
      : []),
    ...consequencesOf(attention).flatMap(([decision, does]) => [
      markdown`- Decision **${decision}**: ${withOptions(does)}`,
      codeBlock(commandOf(`${processName}/${id}`, attention, decision)),
    ]),
  ];
}

/** The source comes first, in our own words, so that no text can pretend to come from another source. */
function entryLine({ at, clock, source, event, by, principal, note }: TimelineEntry): Markdown {
  const time = clock === undefined ? at : `${at} (${clock} clock)`;
  const stated = by === undefined ? emptyLine : markdown` ${by}`;
  const who = principal === undefined ? stated : markdown`${stated}, signed by **${principal}**`;
  const more = note === undefined ? emptyLine : markdown` – ${note}`;
  return markdown`- ${time} **${source}**${who}: ${event}${more}`;
}
