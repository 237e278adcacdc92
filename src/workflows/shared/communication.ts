// A communication of a notification service from submit to its last affidavit: what `sendPostal` and `sendNotice` share (P2 §4.1, §4.2,
// §6.3, §6.4; docs/reading-the-specification.md §2, §3). Their workflows have what differs: states, outcomes, fields, cancellation.
import { currentUpdateInfo } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { EviUpdate } from "../../activities/evi/affidavit-request.js";
import type { EviAnswer, EviPollRequest } from "../../activities/evi/ask.js";
import type { StepCall } from "../../activities/runtime/activity.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { answerTo } from "../runtime/activity-errors.js";
import { wanted } from "../runtime/attention.js";
import { secondsFromNow } from "../runtime/clock.js";
import type { ReportsEnd } from "../runtime/event-log.js";
import type { Flow } from "../runtime/flow.js";
import { invalidInput, membersOf } from "../runtime/invalid-input.js";
import type { Steps } from "../runtime/steps.js";
import { trackUntilClosed } from "../runtime/tracking.js";
import type { AskWait, TrackingSpans, TrackingTarget } from "../runtime/tracking.js";
import { waitUntilDue } from "../runtime/waits.js";
import { matchAffidavits } from "./affidavits.js";
import { collectAffidavits } from "./late-affidavits.js";
import { hintsAtEnd } from "./evi-view.js";
import type { EviSnapshot, EviView } from "./evi-view.js";

/** What the submit of a communication answers. */
export interface EviSubmitted {
  uniqueId: string;
  environment: string;
  account: string;
  /** Fixed for the run. */
  settings: TrackingSpans & { affidavitWindowSeconds: number };
  submittedAt: string;
}

/** The activities that both services have. */
export interface EviActivities<Submitted, Dates, Asked, Answer> {
  submit(given: StepCall & { input: unknown }): Promise<Submitted>;
  ask(given: EviPollRequest): Promise<EviAnswer<Dates>>;
  requestAffidavit(given: EviUpdate & { asked: Asked }): Promise<Answer>;
}

/** What differs between the services. */
export interface Service<Submitted, Dates, Asked, Answer> {
  step: Steps<EviActivities<Submitted, Dates, Asked, Answer>>;
  /** The same activities, for the calls of updates. */
  own(summary: string): Pick<EviActivities<Submitted, Dates, Asked, Answer>, "requestAffidavit">;
  /** The provider, as the Web UI names it. */
  label: string;
  reportsEnd: ReportsEnd;
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
  /** From the answer of the submit on. */
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

  /** The update `requestAffidavit`. */
  async requestAffidavit(
    asked: Asked,
  ): Promise<Answer | { answer: "notEligible" | "unknown" | "unavailable" }> {
    const { own, label, mayRequestAffidavit } = this.#service;
    await waitUntilDue(() => this.item !== undefined);
    if (!this.item || !mayRequestAffidavit(this.item)) return { answer: "notEligible" };
    const { account, uniqueId } = this.item;
    const effect = { step: "requestAffidavit", occurrence: currentUpdateInfo()?.id ?? "0" };
    const summary = `Request an affidavit from ${label}`;
    const answer = await answerTo(() =>
      own(summary).requestAffidavit({ effect, account, uniqueId, asked }),
    );
    const { log } = this.flow;
    log.note({ source: "process", event: `Affidavit on demand: ${answer.answer}` });
    if ("requestId" in answer && answer.requestId !== undefined)
      this.#requests.push({ requestId: answer.requestId, before: log.documents.size });
    return answer;
  }

  /** What the results of both have in common, with the documents that `submitted` lists first. */
  result(submitted: ProcessDocument[]) {
    const { log, status } = this.flow;
    return {
      id: status.id,
      ...this.#providerOutcome(),
      references: status.references,
      documents: [
        ...submitted,
        ...matchAffidavits([...log.documents.values()], log.events, this.#requests),
      ],
      timeline: log.timeline,
      ...log.said,
    };
  }

  #submit(input: unknown): Promise<Submitted> {
    const step = {
      name: "submit",
      summary: `Submit to ${this.#service.label}`,
      journaled: true,
      happened: { uniqueId: wanted.reference },
    };
    return this.#service.step(step, (evi, call) => evi.submit({ ...call, input }));
  }

  #submitted(item: Submitted): void {
    const { log, status, lifecycle } = this.flow;
    this.item = item;
    status.identify(item);
    log.note({ source: "process", event: "Submitted" });
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
    const { snapshot, documents, missing } = await this.#service.step(
      {
        name: isAffidavits ? "affidavits" : "ask",
        summary,
        journaled: false,
        quick,
        ...(isAffidavits ? { happened: {} } : {}),
      },
      (evi, { mode }) =>
        evi.ask({
          account,
          uniqueId,
          submittedAt,
          wait,
          mode,
          seen: log.snapshot?.fingerprint,
          stored: [...log.documents.values()].flatMap((document) => document.uniqueId ?? []),
          refetch: status.phase === "affidavits",
        }),
    );
    this.#missing = missing;
    const flag = this.#service.excludedTransition(log.seenStates, snapshot, item);
    log.applySnapshot(snapshot, documents, flag);
  }

  async #collectLateAffidavits(target: TrackingTarget, windowSeconds: number): Promise<void> {
    const { log, status } = this.flow;
    status.enter("affidavits");
    await collectAffidavits(this.flow, target, windowSeconds);
    if (this.#missing > 0) {
      const event = `${this.#missing} listed affidavits could not be fetched`;
      log.note({ source: "process", event });
    }
  }

  /** The provider's own outcome, if our outcome is `other` or set by the process. */
  #providerOutcome(): { providerOutcome?: string } {
    const { log, status } = this.flow;
    const word = status.ownOutcome === undefined ? log.view.providerOutcome : log.snapshot?.outcome;
    return word === undefined ? {} : { providerOutcome: word };
  }
}

/** The validator of `requestAffidavit`: its flags differ between the services. */
export function refuseUnlessFlags(asked: unknown, known: readonly string[]): void {
  for (const [path, flag] of Object.entries(membersOf(asked))) {
    const isKnown = known.includes(path);
    if (isKnown && typeof flag === "boolean") continue;
    throw invalidInput(path, isKnown ? "must be true or false" : "is not known");
  }
}
