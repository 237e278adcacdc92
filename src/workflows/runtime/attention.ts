// Attention: a process that cannot continue by itself shows the reason and waits for an operator decision (docs/design.md §6).
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  metricMeter,
} from "@temporalio/workflow";
import type { EffectKey } from "../../activities/runtime/effect.js";
import type { ProvenResolution, WrittenDecision } from "../../activities/runtime/process.js";
import { namePlaceholder } from "../../contracts/shared/decisions.js";
import { counterOf, metrics } from "../../contracts/shared/metrics.js";
import type { AttentionKind, FailureDetails, Problem } from "../../contracts/shared/failures.js";
import { plainText } from "../../contracts/shared/text.js";
import type { Resolution, ResolveAnswer } from "../../contracts/shared/messages.js";
import type { ProposedDecision } from "../../contracts/shared/names.js";
import type { Attention } from "../../contracts/shared/status.js";
import { databaseProxy } from "./activity-options.js";
import { now } from "./clock.js";
import { decidedBy } from "./decisions.js";
import type { ProvenPerson } from "./decisions.js";
import type { EventLog, Snapshot, View } from "./event-log.js";
import { invalidInput, membersOf } from "./activity-errors.js";
import { maxBytes } from "./event-log.js";

/** An operator must or may supply these members with `happened`. */
export type Wanted = Readonly<Record<string, RegExp | { optional: RegExp }>>;

export const wanted = {
  /** An id of the provider's; it is shown. */
  reference: /^[A-Za-z0-9._-]{1,100}$/,
  wholeNumber: /^\d{1,15}$/,
  /** A secret of the provider's. */
  token: /^[\x21-\x7e]{1,4000}$/,
  optional: (pattern: RegExp) => ({ optional: pattern }),
};

export interface Opening {
  step: {
    name: string;
    journaled: boolean;
    occurrence?: string;
    /** An operator must supply it with `happened`. Empty: the step can be waived. Absent: neither. */
    happened?: Wanted;
  };
  kind: AttentionKind;
  reason: string;
  /** What an operator looks for in the provider's portal. */
  traces?: Pick<Attention, "lookFor" | "attempts">;
  /** The rows into which a decision is written, as they are then; default: that of the step itself, if it is journaled. */
  rows?(): EffectKey[];
  /** Set if the process can no longer be stopped: `abandon` is not offered. */
  isUnstoppable?: boolean;
}

/** A decision that is stored in the journal; `effect` says whether the provider acted, as far as known. */
export interface Decided extends ProvenResolution {
  occurrence: string | undefined;
  effect: "none" | "unknown" | "exists";
}

export interface OpenAttention {
  shown: Attention;
  kind: AttentionKind;
  rows(): EffectKey[];
  wants: Wanted;
  isDeciding: boolean;
  /** Whether the patient phase sends, or only waits for the answer. */
  sends: boolean;
  decided: Promise<Decided>;
  settle(decision: Decided): void;
}

const { decide } = databaseProxy("Record the decision");

interface AttentionsOwner {
  readonly log: Pick<EventLog<Snapshot, View>, "add" | "note">;
  readonly status: { attentionChanged(): void; proposalsChanged(): void };
}

export class Attentions {
  readonly #open = new Map<string, OpenAttention>();
  readonly #flow: AttentionsOwner;
  #count = 0;

  constructor(flow: AttentionsOwner) {
    this.#flow = flow;
  }

  /** The attention that is shown first: a requested cancellation comes before a problem of the process itself. */
  get first(): Attention | undefined {
    const all = [...this.#open.values()];
    return (all.find(({ kind }) => kind === "cancelRequested") ?? all[0])?.shown;
  }

  /** Every other open attention. */
  get more(): Attention[] {
    const { first } = this;
    return [...this.#open.values()].flatMap(({ shown }) => (shown === first ? [] : [shown]));
  }

  open({ step, kind, reason, traces, rows, isUnstoppable }: Opening): OpenAttention {
    this.#count += 1;
    const unknown = kind === "unknownOutcome" || kind === "protocol";
    const mayDouble = kind === "unknownOutcome" && step.journaled;
    let settle!: OpenAttention["settle"];
    const decided = new Promise<Decided>((resolve) => {
      settle = resolve;
    });
    const mayHaveHappened = step.happened && !(step.journaled && kind === "accessDenied");
    const needs = Object.entries(step.happened ?? {}).flatMap(([key, want]) =>
      "optional" in want ? [] : [key],
    );
    const attention: OpenAttention = {
      shown: {
        id: `${step.name}-${this.#count}`,
        kind,
        step: step.name,
        since: now().toISOString(),
        reason,
        ...traces,
        decisions: [
          "retry",
          ...(mayHaveHappened ? ["happened" as const] : []),
          ...(isUnstoppable ? [] : ["abandon" as const]),
        ],
        ...(mayHaveHappened && needs.length > 0 ? { happenedNeeds: needs } : {}),
        ...(mayDouble ? { retryNeeds: ["confirmRetry", "note"] } : {}),
      },
      wants: step.happened ?? {},
      isDeciding: false,
      kind,
      rows: rows ?? (() => (step.journaled ? [rowOf(step)] : [])),
      sends: step.journaled && !unknown,
      decided,
      settle,
    };
    this.#open.set(attention.shown.id, attention);
    // The process's name goes along by itself, as `workflowType`; a replay does not count again.
    metricMeter.createCounter(...counterOf(metrics.attentions)).add(1, { kind });
    this.#flow.log.note(`Needs an operator decision: ${step.name} (${kind})`, reason);
    this.#flow.status.attentionChanged();
    return attention;
  }

  /** Closes it once the decision was obeyed, or `ended` rejects; default: its scope is cancelled. */
  async ask<T>(
    opening: Opening,
    obey: (decided: Decided) => T,
    ended: Promise<never> = CancellationScope.current().cancelRequested,
  ): Promise<T> {
    const attention = this.open(opening);
    try {
      return obey(await Promise.race([attention.decided, ended]));
    } finally {
      this.close(attention);
    }
  }

  close({ shown }: OpenAttention): void {
    const { id, step, kind } = shown;
    this.#open.delete(id);
    if (shown.proposed) this.#unpropose(shown);
    this.#flow.log.note(`No longer needs an operator decision: ${step} (${kind})`);
    this.#flow.status.attentionChanged();
  }

  /** The proposals that wait for a second operator. */
  get proposals(): ProposedDecision[] {
    return [...this.#open.values()].flatMap(({ shown: { id, proposed } }) =>
      proposed
        ? [{ attention: id, decision: proposed.decision, principal: proposed.principal }]
        : [],
    );
  }

  #propose(
    { shown }: OpenAttention,
    { decision, by, note }: ProvenResolution,
    who: ProvenPerson,
  ): void {
    const { principal = "" } = who;
    const at = now().toISOString();
    const stated = { by: plainText(by, maxBytes.by), note: note && plainText(note, maxBytes.note) };
    shown.proposed = { decision, at, principal, ...stated };
    this.#flow.log.add(decidedBy(who, `Proposed ${decision}: ${shown.step}`));
    this.#flow.status.proposalsChanged();
  }

  #unpropose(shown: Attention): void {
    delete shown.proposed;
    this.#flow.status.proposalsChanged();
  }

  /** Refuses an outdated attention id, and a decision that the attention does not accept. */
  validate(resolution: Resolution): void {
    const refuse = (path: string, problem: string) => {
      throw invalidInput(path, problem);
    };
    const { by } = membersOf(resolution);
    const attention = this.#open.get(resolution?.attention);
    if (!attention) throw notOpen();
    if (!attention.shown.decisions.includes(resolution.decision)) {
      refuse("decision", `must be one of ${attention.shown.decisions.join(", ")}`);
    }
    if (typeof by !== "string" || !by.trim())
      refuse("by", "is required: the name of the person who decides");
    if (resolution.by.trim() === namePlaceholder)
      refuse("by", `must be the name of the person who decides, not ${namePlaceholder}`);
    if (resolution.decision === "retry" && attention.shown.retryNeeds) {
      if (resolution.confirmRetry !== true)
        refuse(
          "confirmRetry",
          "must be true: a retry causes a second effect if the first attempt arrived, so check the provider's portal first",
        );
      if (!resolution.note?.trim())
        refuse("note", "is required: write what the provider's portal shows");
    }
    if (resolution.decision !== "happened") return;
    for (const key of Object.keys(resolution.result ?? {}))
      if (!Object.hasOwn(attention.wants, key)) refuse(`result.${key}`, "is not needed");
    for (const [key, want] of Object.entries(attention.wants)) {
      const value = resolution.result?.[key];
      const isOptional = "optional" in want;
      if (isOptional && value === undefined) continue;
      const pattern = isOptional ? want.optional : want;
      const isText = typeof value === "string" || typeof value === "number";
      if (!isText || !pattern.test(String(value)))
        refuse(`result.${key}`, "is required with happened: the provider's value");
    }
  }

  async resolve(asked: Resolution, who: ProvenPerson): Promise<ResolveAnswer> {
    const { signature: _, ...given } = asked;
    const { principal, secondPerson: { proposedBy } = {} } = who;
    const resolution = { ...given, principal, proposedBy };
    const attention = this.#open.get(resolution.attention);
    // It was open when the update was accepted, and ended during the check of the person.
    if (!attention) throw notOpen();
    const { kind, shown } = attention;
    const rows = attention.rows();
    if (attention.isDeciding) return { answer: "notYet" };
    if (who.secondPerson && proposedBy === undefined) {
      this.#propose(attention, resolution, who);
      return { answer: "pending" };
    }
    // A different decision replaces the proposal.
    if (shown.proposed && shown.proposed.decision !== resolution.decision) this.#unpropose(shown);
    attention.isDeciding = true;
    // Continuing the process does not send the step again.
    const goesOn = kind === "cancelRequested" && resolution.decision === "retry";
    const written = await writtenInto(goesOn ? [] : rows, resolution, shown);
    attention.isDeciding = false;
    const failed = written.find(({ answer }) => answer !== "resolved");
    if (failed) return failed;
    await othersFirst();
    // It may have ended meanwhile. `happened` in a row stands all the same: whatever runs the step next is answered by it.
    const stands = resolution.decision === "happened" && rows.length > 0;
    if (!this.#open.has(shown.id) && !stands) throw notOpen();
    const event = goesOn ? "Cancellation withdrawn" : `${resolution.decision}: ${shown.step}`;
    this.#flow.log.add(decidedBy(who, event));
    const [first] = written;
    attention.settle({ ...resolution, occurrence: first?.occurrence, effect: knownBy(written) });
    return { answer: "resolved" };
  }
}

const rowOf = ({ name, occurrence = "0" }: Opening["step"]): EffectKey => ({
  step: name,
  occurrence,
});

/** A result that has come in the same workflow task may be the end of the attention. */
async function othersFirst(): Promise<void> {
  let isTheirTurnOver = false;
  const over = condition(() => isTheirTurnOver);
  isTheirTurnOver = true;
  await over;
}

const notOpen = () => invalidInput("attention", "is not open, or is already decided");

/** `unavailable`: one of the rows could not be reached. */
async function writtenInto(
  rows: EffectKey[],
  resolution: ProvenResolution,
  { kind, reason }: Attention,
): Promise<WrittenDecision[]> {
  const at = now().toISOString();
  const writing = rows.map((row) => decide({ ...row, resolution, at, kind, reason }));
  return Promise.all(writing).catch(() => [{ answer: "unavailable" }]);
}

/** Without a row no step has had an effect. */
function knownBy(written: WrittenDecision[]): Decided["effect"] {
  const known = written.map(({ effect = "unknown" }) => effect);
  return (["exists", "unknown"] as const).find((effect) => known.includes(effect)) ?? "none";
}

export function abandoned(
  step: string,
  { attention, by, principal, proposedBy, note, effect }: Decided,
): ApplicationFailure {
  const details: FailureDetails["Abandoned"] = {
    attention,
    effect,
    by: plainText(by, maxBytes.by),
    ...(principal === undefined ? {} : { principal }),
    ...(proposedBy === undefined ? {} : { proposedBy }),
    ...(note === undefined ? {} : { note: plainText(note, maxBytes.note) }),
  };
  return ApplicationFailure.nonRetryable(`Abandoned at ${step}`, "Abandoned", details);
}

type ProblemAttention = Exclude<AttentionKind, "cancelRequested" | "failureBudget">;

const reasons: Record<ProblemAttention | "rateLimited", string> = {
  accessDenied: "access denied; check credentials, permissions and balance",
  unavailable: "the provider has been unreachable for a long time",
  rateLimited: "the provider asks to wait, because it limits the number of requests",
  unknownOutcome: "the provider may have acted; check the provider's portal before deciding",
  protocol: "the provider's answer is unreadable, or it says that the request is wrong",
};

/** Why an effect may exist although the look-up does not find it (docs/decisions/0017). */
const lookUps: Record<NonNullable<Problem["lookUp"]>, string> = {
  unproven:
    "no usable answer came, and the look-up does not find the effect. That proves nothing yet, because no look-up of this account has found one of our own items. The process waits for that proof and then continues by itself; trustflow doctor shows the progress",
  late: "no usable answer came, and the look-up does not find the effect. That proves nothing, because this account shows our own items later than journal.lookUpSpacingSeconds (see trustflow doctor)",
  missing:
    "no usable answer came, and the look-up does not find the effect. That proves nothing, because this account's look-up does not find our own items (see trustflow doctor)",
  reported:
    "no usable answer came, and the look-up does not find the effect, but a callback says that it exists. The process continues by itself once the look-up finds it",
};

export function reasonOf(kind: ProblemAttention, problem: Problem, host?: string): string {
  const { provider, operation, reference, status, lookUp, problem: wrong } = problem;
  const code = problem.code ?? (wrong === undefined ? status : undefined);
  const met = problem.kind === "rateLimited" ? problem.kind : kind;
  const why = lookUp === undefined ? reasons[met] : lookUps[lookUp];
  // Without an answer, none is unreadable: our own words say what is wrong.
  const isOurs = kind === "protocol" && status === undefined && wrong !== undefined;
  const what = isOurs ? wrong : [why, ...(wrong === undefined ? [] : [wrong])].join(": ");
  const where = host === undefined ? "" : ` at ${host}`;
  const shown = reference === undefined ? "" : `; its answer shows the id ${reference}`;
  return `${provider} ${operation}${where}: ${what}${code === undefined ? "" : ` (${code})`}${shown}`;
}
