// A communication of a notification service from submit to its last affidavit: what `sendPostal` and `sendNotice` share (P2 §4.1, §4.2,
// §6.3, §6.4; docs/reading-the-specification.md §2, §3). Their workflows have what differs: states, outcomes, fields, cancellation.
import { condition } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { EviUpdate } from "../../activities/evi/affidavit-request.js";
import type { EviAnswer, EviPollRequest, EviSnapshot } from "../../activities/evi/ask.js";
import type { StepCall } from "../../activities/runtime/activity.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { answerTo, invalidInput, membersOf } from "../runtime/activity-errors.js";
import { downloadAttempt } from "../runtime/activity-options.js";
import { wanted } from "../runtime/attention.js";
import { secondsFromNow, Timer } from "../runtime/clock.js";
import type { ReportsEnd } from "../runtime/event-log.js";
import type { AnyFlow, Flow } from "../runtime/flow.js";
import { effectStep, isWaived, queryStep } from "../runtime/steps.js";
import type { Step, Steps } from "../runtime/steps.js";
import { trackUntilClosed } from "../runtime/tracking.js";
import type { AskWait, TrackingSpans, TrackingTarget } from "../runtime/tracking.js";
import { occurrenceOfUpdate } from "../runtime/update-occurrence.js";
import { waitUntilDue } from "../runtime/waits.js";
import { hintsAtEnd } from "./evi-view.js";
import type { EviView } from "./evi-view.js";

export interface EviSubmitted {
  uniqueId: string;
  environment: string;
  account: string;
  /** Fixed for the run. */
  settings: TrackingSpans & { affidavitWindowSeconds: number };
  submittedAt: string;
}

export interface EviActivities<Submitted, Dates, Asked, Answer> {
  submit(given: StepCall & { input: unknown }): Promise<Submitted>;
  ask(given: EviPollRequest): Promise<EviAnswer<Dates>>;
  requestAffidavit(given: EviUpdate & { asked: Asked }): Promise<Answer>;
}

export interface Service<Submitted, Dates, Asked, Answer> {
  step: Steps<EviActivities<Submitted, Dates, Asked, Answer>>;
  updateCall(
    summary: string,
  ): Pick<EviActivities<Submitted, Dates, Asked, Answer>, "requestAffidavit">;
  /** The provider, as the Web UI names it. */
  label: string;
  reportsEnd: ReportsEnd;
  lookFor: NonNullable<Step["lookFor"]>;
  /** Names a transition that the specification excludes; the process follows it anyway. */
  excludedTransition(
    seen: readonly string[],
    next: EviSnapshot<Dates>,
    item: Submitted,
  ): string | undefined;
  /** Whether the provider makes an affidavit on demand for this communication as it stands. */
  mayRequestAffidavit(item: Submitted): boolean;
  /** Whether an operator can end the process while it is tracked; otherwise it is followed to its end. */
  staysStoppable?: boolean;
}

type AnyAffidavitAnswer = { answer: string; requestId?: string };

export class Communication<
  Submitted extends EviSubmitted,
  Dates,
  View extends EviView,
  Asked,
  Answer extends AnyAffidavitAnswer,
> {
  /** Set once the submit has answered. */
  item: Submitted | undefined;
  readonly flow: Flow<EviSnapshot<Dates>, View>;
  readonly #service: Service<Submitted, Dates, Asked, Answer>;
  /** The affidavits requested on demand, each with how many documents there were before it. */
  readonly #requests: { requestId: string; before: number }[] = [];
  /** The number of affidavits that the newest answer lists and that could not be fetched. */
  #missing = 0;

  constructor(
    flow: Flow<EviSnapshot<Dates>, View>,
    service: Service<Submitted, Dates, Asked, Answer>,
  ) {
    this.flow = flow;
    this.#service = service;
  }

  /**
   * From submit to the end of the affidavit window. `submitted` follows the submit at once; `closed` comes before the wait for late
   * affidavits, and not where the process ended before its provider's tracking did.
   */
  async run(
    input: unknown,
    hooks: { submitted?(): void; closed?(item: Submitted): Promise<void> } = {},
  ): Promise<void> {
    const { label } = this.#service;
    const { status } = this.flow;
    const item = await this.#submit(input);
    this.#submitted(item);
    hooks.submitted?.();
    const target: TrackingTarget = {
      label,
      spans: item.settings,
      hintsAtEnd: (event) => hintsAtEnd(this.#service.reportsEnd, event),
      ask: (...question) => this.#ask(item, ...question),
    };
    await trackUntilClosed(this.flow, target);
    if (status.ownOutcome !== undefined) return;
    if (hooks.closed) await hooks.closed(item);
    await this.#collectLateAffidavits(target, item.settings.affidavitWindowSeconds);
  }

  async requestAffidavit(
    asked: Asked,
  ): Promise<Answer | { answer: "notEligible" | "unknown" | "unavailable" }> {
    const { updateCall, label, mayRequestAffidavit } = this.#service;
    await waitUntilDue(() => this.item !== undefined);
    if (!this.item || !mayRequestAffidavit(this.item)) return { answer: "notEligible" };
    const { account, uniqueId } = this.item;
    const effect = { step: "requestAffidavit", occurrence: occurrenceOfUpdate() };
    const summary = `Request an affidavit from ${label}`;
    const answer = await answerTo(() =>
      updateCall(summary).requestAffidavit({ effect, account, uniqueId, asked }),
    );
    const { log } = this.flow;
    log.note(`Affidavit on demand: ${answer.answer}`);
    if ("requestId" in answer && answer.requestId !== undefined)
      this.#requests.push({ requestId: answer.requestId, before: log.documents.size });
    return answer;
  }

  /** `submitted` come first among the documents. */
  result(submitted: ProcessDocument[]) {
    const { log } = this.flow;
    return {
      ...this.flow.result(this.flow.status.process),
      providerOutcome: this.#providerOutcome,
      documents: [
        ...submitted,
        ...matchAffidavits([...log.documents.values()], log.events, this.#requests),
      ],
      ...log.said,
    };
  }

  #submit(input: unknown): Promise<Submitted> {
    const step = effectStep("submit", `Submit to ${this.#service.label}`, {
      happened: { uniqueId: wanted.reference },
      lookFor: this.#service.lookFor,
    });
    return this.#service.step(step, (evi, call) => evi.submit({ ...call, input }));
  }

  #submitted(item: Submitted): void {
    const { log, status, lifecycle } = this.flow;
    this.item = item;
    status.identify(item);
    log.note("Submitted");
    const references = { uniqueId: item.uniqueId };
    const { deadlineSeconds } = item.settings;
    if (this.#service.staysStoppable)
      status.effectExists("tracking", references, secondsFromNow(deadlineSeconds));
    else lifecycle.beginTracking(references, deadlineSeconds);
  }

  /** Queries the provider for the communication and applies the answer. */
  async #ask(
    item: Submitted,
    wait: AskWait,
    summary: string,
    quick: ActivityOptions,
  ): Promise<void> {
    const { log, status } = this.flow;
    const { account, uniqueId, submittedAt } = item;
    const isAffidavits = wait === "affidavits";
    // A callback may have answered a request for an affidavit alone: then there is no end to wait for.
    const mayBeOver = log.isEndReported || log.endHints > 0;
    const { snapshot, documents, missing } = await this.#service.step(
      queryStep(isAffidavits ? "affidavits" : "ask", summary, {
        quick,
        ...(isAffidavits ? { happened: {}, attempt: downloadAttempt } : {}),
      }),
      (evi, { mode }) =>
        evi.ask({
          account,
          uniqueId,
          submittedAt,
          wait: wait === "end" && !mayBeOver ? "now" : wait,
          mode,
          seen: log.snapshot?.fingerprint,
          stored: this.#stored,
          refetch: status.phase === "affidavits",
        }),
    );
    this.#missing = missing;
    const flag = this.#service.excludedTransition(log.seenStates, snapshot, item);
    log.applySnapshot(snapshot, documents, flag);
  }

  /** The ids of the affidavits that need not be fetched again. One that was made again may have its old id. */
  get #stored(): string[] {
    const { documents, events } = this.flow.log;
    const again = events.flatMap(({ affidavit }) =>
      affidavit?.regenerated ? affidavit.id.toLowerCase() : [],
    );
    return [...documents.values()].flatMap(({ uniqueId }) =>
      uniqueId === undefined || again.includes(uniqueId.toLowerCase()) ? [] : uniqueId,
    );
  }

  async #collectLateAffidavits(target: TrackingTarget, windowSeconds: number): Promise<void> {
    const { log, status } = this.flow;
    status.enter("affidavits");
    const waitsFor =
      this.#missing > 0
        ? `late affidavits; ${this.#missing} listed at the close could not be fetched`
        : undefined;
    await collectAffidavits(this.flow, target, windowSeconds, waitsFor);
    if (this.#missing > 0) log.note(`${this.#missing} listed affidavits could not be fetched`);
  }

  /** The provider's own outcome, if our outcome is `other` or set by the process. */
  get #providerOutcome(): string | undefined {
    const { log, status } = this.flow;
    return status.ownOutcome === undefined ? log.view.providerOutcome : log.snapshot?.outcome;
  }
}

/** Validates `requestAffidavit`, whose flags differ between the services. */
export function refuseUnlessFlags(asked: unknown, known: readonly string[]): void {
  for (const [path, flag] of Object.entries(membersOf(asked))) {
    const isKnown = known.includes(path);
    if (isKnown && typeof flag === "boolean") continue;
    throw invalidInput(path, isKnown ? "must be true or false" : "is not known");
  }
}

/** Fetches affidavits that are published after the close (P2 §3.1): each one as it is announced, and all once more when the window ends. */
export async function collectAffidavits(
  flow: AnyFlow,
  { label, spans, ask }: TrackingTarget,
  windowSeconds: number,
  waitsFor = "late affidavits",
): Promise<void> {
  if (windowSeconds === 0) return;
  const window = new Timer(secondsFromNow(windowSeconds), "Time limit for late affidavits");
  flow.status.waitFor(waitsFor, window.end);
  const isOver = () => window.isOver || flow.lifecycle.stopped !== undefined;
  for (let fetched = announced(flow); !isOver(); fetched = announced(flow)) {
    await condition(() => isOver() || announced(flow) > fetched);
    if (isOver()) break;
    await ask("now", `Fetch an announced affidavit from ${label}`, {});
    const pause = new Timer(
      secondsFromNow(spans.askIntervalSeconds),
      `Pause before the next query to ${label}`,
    );
    await condition(() => isOver() || pause.isOver);
  }
  if (flow.lifecycle.stopped) throw flow.lifecycle.stopped;
  await isWaived(() => ask("affidavits", `Fetch the last affidavits from ${label}`, {}));
}

function announced(flow: AnyFlow): number {
  return flow.log.events.filter(({ affidavit }) => affidavit).length;
}

/**
 * An affidavit is tied by the `RequestId` of its callback; one that no callback announced is tied as `inferred` where exactly one request
 * still waits. Ids are UUIDs, in any case.
 */
export function matchAffidavits(
  documents: ProcessDocument[],
  events: ProviderEvent[],
  requests: { requestId: string; before: number }[],
): ProcessDocument[] {
  const published = events.flatMap(({ affidavit }) => affidavit ?? []);
  // Whatever their order, the callback with a RequestId says more than one without.
  const tellingLast = published.toSorted(
    (one, other) => Number(one.requestId !== undefined) - Number(other.requestId !== undefined),
  );
  const announced = new Map(
    tellingLast.map((affidavit) => [affidavit.id.toLowerCase(), affidavit]),
  );
  const announcedAs = ({ uniqueId = "" }: ProcessDocument) => announced.get(uniqueId.toLowerCase());
  const answered = new Set(
    [...announced.values()].map(({ requestId }) => requestId?.toLowerCase()),
  );
  const waiting = requests.filter(({ requestId }) => !answered.has(requestId.toLowerCase()));
  const only = waiting.length === 1 ? waiting[0] : undefined;
  let inferred = false;
  return documents.map((document, index) => {
    const requestId = announcedAs(document)?.requestId;
    if (requestId !== undefined) return { ...document, requestId, tiedBy: "callback" };
    const mayAnswer = only && !inferred && index >= only.before && !announcedAs(document);
    if (!mayAnswer) return document;
    inferred = true;
    return { ...document, requestId: only.requestId, tiedBy: "inferred" };
  });
}
