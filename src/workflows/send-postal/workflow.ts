// A certified postal communication from submit to close, with its affidavits (P2 §2.1–2.5, §3.1, §4.1;
// docs/reading-the-specification.md §2).
import { currentUpdateInfo, patched, proxyActivities, sleep } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { EviPostActivities, PostalSubmitted } from "../../activities/evi-post/index.js";
import type { ProcessActivities } from "../../activities/runtime/process.js";
import { cancel, requestAffidavit } from "../../contracts/send-postal/messages.js";
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/send-postal/messages.js";
import type {
  PostalAffidavitRequest,
  PostalOutcome,
  SendPostalInput,
  SendPostalResult,
} from "../../contracts/send-postal.js";
import { activitiesOf, answerOptions } from "../runtime/activity-options.js";
import { wanted } from "../runtime/attention.js";
import { answerTo } from "../runtime/activity-errors.js";
import { matchAffidavits } from "./affidavits.js";
import {
  decidedBy,
  isChecked,
  acceptsUnsigned,
  refuseUnlessDeciderAlone,
} from "../runtime/decisions.js";
import type { Proven } from "../runtime/decisions.js";
import { collectAffidavits } from "./late-affidavits.js";
import { trackUntilClosed } from "../runtime/tracking.js";
import type { AskWait, TrackingTarget } from "../runtime/tracking.js";
import { invalidInput, membersOf } from "../runtime/invalid-input.js";
import { Flow } from "../runtime/flow.js";
import { excludedTransition, hintsAtEnd, postalView, reportsEnd } from "./view.js";
import type { PostalSnapshot, PostalView } from "./view.js";
import { stepsOf } from "../runtime/steps.js";
import { waitUntilDue } from "../runtime/waits.js";

const { withdraw } = proxyActivities<ProcessActivities>({
  ...answerOptions,
  summary: "Withdraw before it is sent",
});
/** Seconds; after that the letter is dispatched, or an operator checks it. */
const MAX_CANCEL_WAIT_SECONDS = 21_600;

const own = (summary: string) =>
  activitiesOf<EviPostActivities>("evi-post", { ...answerOptions, summary });

/** The occurrence in the journal of a cancellation that is not an update's own call. */
type CancelOccurrence = "after-submit" | "workflow-cancellation";

export async function sendPostal(input: SendPostalInput): Promise<SendPostalResult> {
  return new SendPostal(input).run();
}

class SendPostal {
  readonly #input: SendPostalInput;
  readonly #flow = new Flow<PostalSnapshot, PostalView>(postalView, reportsEnd);
  readonly #step = stepsOf<EviPostActivities>(this.#flow, "evi-post");
  /** The affidavits requested on demand, each with how many documents there were before it. */
  readonly #requests: { requestId: string; before: number }[] = [];
  #item: PostalSubmitted | undefined;
  #cancelAfterSubmit = false;
  /** The number of affidavits that the newest answer lists and that could not be fetched. */
  #missing = 0;

  constructor(input: SendPostalInput) {
    this.#input = input;
    const { lifecycle } = this.#flow;
    lifecycle.onDecision(
      cancel,
      "Cancel the communication before it is dispatched",
      (_, who) => this.#cancel(currentUpdateInfo()?.id ?? "0", who),
      refuseUnlessDeciderAlone,
    );
    lifecycle.onUpdate(
      requestAffidavit,
      "Request an affidavit on demand",
      (asked) => this.#requestAffidavit(asked),
      refuseUnlessFlags,
    );
    lifecycle.onCancelRequested(() => lifecycle.background(() => this.#cancelUnsigned()));
  }

  run(): Promise<SendPostalResult> {
    return this.#flow.lifecycle.run(
      () => this.#main(),
      () => this.#result(),
    );
  }

  async #main(): Promise<void> {
    const item = await this.#submit();
    this.#submitted(item);
    const target: TrackingTarget = {
      label: "EviPost",
      spans: item.settings,
      hintsAtEnd,
      ask: (...question) => this.#ask(item, ...question),
    };
    await trackUntilClosed(this.#flow, target);
    if (this.#flow.status.ownOutcome !== undefined) return;
    await this.#collectLateAffidavits(target, item.settings.affidavitWindowSeconds);
  }

  #submit(): Promise<PostalSubmitted> {
    const step = {
      name: "submit",
      summary: "Submit to EviPost",
      journaled: true,
      happened: { uniqueId: wanted.reference },
    };
    return this.#step(step, (evi, call) => evi.submit({ ...call, input: this.#input }));
  }

  #submitted(item: PostalSubmitted): void {
    const { log, status, lifecycle } = this.#flow;
    this.#item = item;
    status.identify(item);
    log.note({ source: "process", event: "Submitted" });
    lifecycle.beginTracking({ uniqueId: item.uniqueId }, item.settings.deadlineSeconds);
    if (this.#cancelAfterSubmit)
      lifecycle.background(() => this.#cancelUntilAnswered("after-submit"));
  }

  /** Queries EviPost for the communication and applies the answer. */
  async #ask(
    { account, uniqueId, submittedAt, postServiceType }: PostalSubmitted,
    wait: AskWait,
    summary: string,
    quick: ActivityOptions,
  ): Promise<void> {
    const { log, status } = this.#flow;
    const isAffidavits = wait === "affidavits";
    const { snapshot, documents, missing } = await this.#step(
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
    log.applySnapshot(
      snapshot,
      documents,
      excludedTransition(log.seenStates, snapshot, postServiceType),
    );
  }

  async #collectLateAffidavits(target: TrackingTarget, windowSeconds: number): Promise<void> {
    const { log, status } = this.#flow;
    status.enter("affidavits");
    await collectAffidavits(this.#flow, target, windowSeconds);
    if (this.#missing > 0) {
      const event = `${this.#missing} listed affidavits could not be fetched`;
      log.note({ source: "process", event });
    }
  }

  #result(): SendPostalResult {
    const { log, status } = this.#flow;
    return {
      process: "sendPostal",
      id: status.id,
      outcome: (status.outcome ?? "other") as PostalOutcome,
      ...providerWord(this.#flow),
      references: status.references,
      dates: log.snapshot?.dates ?? {},
      documents: [
        ...(this.#item ? [{ kind: "submitted" as const, document: this.#item.document }] : []),
        ...matchAffidavits([...log.documents.values()], log.events, this.#requests),
      ],
      timeline: log.timeline,
    };
  }

  async #cancel(occurrence: string, who: Proven = {}): Promise<CancelAnswer> {
    const { log, status, lifecycle } = this.#flow;
    const note = (answer: string) => log.note(decidedBy(who, `Cancel: ${answer}`));
    if (!this.#item) {
      const answer = await answerTo(() => withdraw({ step: "submit" }));
      if (answer === "withdrawn") {
        note("cancelled");
        lifecycle.withdraw();
        return { answer: "cancelled" };
      }
    }
    // The letter may have been submitted in the meantime.
    if (!this.#item) {
      this.#cancelAfterSubmit = true;
      note("pending");
      return { answer: "pending" };
    }
    if (log.view.closed || status.phase === "ended")
      return { answer: log.view.outcome === "cancelled" ? "cancelled" : "tooLate" };
    const { account, uniqueId } = this.#item;
    const effect = { step: "cancel", occurrence };
    const answer = await answerTo(() =>
      own("Cancel at EviPost").cancel({ effect, account, uniqueId }),
    );
    note(answer.answer);
    if (answer.answer === "cancelled") log.hintEnd();
    return answer;
  }

  /** For a cancellation without a waiting caller: retries with growing pauses until the answer is clear. */
  async #cancelUntilAnswered(occurrence: CancelOccurrence): Promise<void> {
    for (let wait = 60; ; wait = Math.min(wait * 2, MAX_CANCEL_WAIT_SECONDS)) {
      const { answer } = await this.#cancel(occurrence);
      if (answer !== "unavailable" && answer !== "unknown") return;
      await sleep(wait * 1_000, { summary: "Pause before the next try to cancel" });
    }
  }

  /** Temporal's own cancellation has no signature: it counts only where unsigned decisions are accepted. */
  async #cancelUnsigned(): Promise<void> {
    if (!isChecked() || (await acceptsUnsigned(cancel.name)))
      return this.#cancelUntilAnswered("workflow-cancellation");
    const note = "it is not signed: an operator must cancel with trustflow cancel";
    this.#flow.log.note({ source: "process", event: "Cancellation refused", note });
  }

  async #requestAffidavit(asked: PostalAffidavitRequest): Promise<AffidavitAnswer> {
    if (!this.#item && patched("affidavit-when-due"))
      await waitUntilDue(() => this.#item !== undefined);
    if (!this.#item?.affidavitsOnDemand) return { answer: "notEligible" };
    const { account, uniqueId } = this.#item;
    const effect = { step: "requestAffidavit", occurrence: currentUpdateInfo()?.id ?? "0" };
    const given = { effect, account, uniqueId, asked };
    const answer = await answerTo(() =>
      own("Request an affidavit from EviPost").requestAffidavit(given),
    );
    const { log } = this.#flow;
    log.note({ source: "process", event: `Affidavit on demand: ${answer.answer}` });
    if (answer.answer === "requested")
      this.#requests.push({ requestId: answer.requestId, before: log.documents.size });
    return answer;
  }
}

function refuseUnlessFlags(asked: PostalAffidavitRequest): void {
  for (const [path, flag] of Object.entries(membersOf(asked))) {
    const known = path === "includeDocument" || path === "includeEvents";
    if (known && typeof flag === "boolean") continue;
    throw invalidInput(path, known ? "must be true or false" : "is not known");
  }
}

/** The provider's own outcome, if our outcome is `other` or set by the process. */
function providerWord({ log, status }: Flow<PostalSnapshot, PostalView>) {
  const { view, snapshot } = log;
  const word = status.ownOutcome === undefined ? view.providerOutcome : snapshot?.outcome;
  return word === undefined ? {} : { providerOutcome: word };
}
