// One notice to each recipient of a list: the check of the list, the set-up of the batch, its start, how far it is, and a report about
// each recipient (P2 §2.8–2.10, §3.3, §3.4, §4.3; docs/reading-the-specification.md §4). The number of recipients changes neither the
// number of activities nor their size: lists, reports and archives are documents, and the notices are rows of a table.
import { ActivityFailure, ApplicationFailure, condition } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { AffidavitArchive } from "../../activities/evi-notice-batch/archive.js";
import type { BatchActivities } from "../../activities/evi-notice-batch/index.js";
import type { ItemTotals } from "../../activities/evi-notice-batch/items.js";
import type { BatchRead } from "../../activities/evi-notice-batch/progress.js";
import type { BatchPlan, OfBatch } from "../../activities/evi-notice-batch/context.js";
import type { WrittenReport } from "../../activities/evi-notice-batch/report.js";
import type { Started } from "../../activities/evi-notice-batch/start.js";
import type { StepCall } from "../../activities/runtime/activity.js";
import { cancelBatch, requestBatchAffidavit } from "../../contracts/send-notice-batch/messages.js";
import { outcomeOfBroken } from "../../contracts/send-notice-batch/states.js";
import type {
  BatchAffidavitAnswer,
  BatchCancelAnswer,
} from "../../contracts/send-notice-batch/messages.js";
import type {
  BatchAffidavitRequest,
  BatchOutcome,
  SendNoticeBatchInput,
  SendNoticeBatchResult,
} from "../../contracts/send-notice-batch/contract.js";
import { databaseProxy, repeatedEvery, updateProxy } from "../runtime/activity-options.js";
import {
  answerTo,
  problemIn,
  invalidInput,
  membersOf as givenIn,
} from "../runtime/activity-errors.js";
import { wanted } from "../runtime/attention.js";
import { onUnsignedCancel } from "../runtime/cancellation.js";
import { dateOf, msUntil, now, secondsAfter, secondsFromNow } from "../runtime/clock.js";
import { decidedBy } from "../runtime/decisions.js";
import type { ProvenPerson } from "../runtime/decisions.js";
import { Flow, run } from "../runtime/flow.js";
import { Withdrawn } from "../runtime/lifecycle.js";
import { effectStep, isWaived, queryStep, stepsOf, untilTimeIsUp } from "../runtime/steps.js";
import { occurrenceOfUpdate, ownOccurrences } from "../runtime/update-occurrence.js";
import { waitUntil } from "../runtime/waits.js";
import { refuseUnlessFlags } from "../shared/communication.js";
import { FailureBudget } from "./failure-budget.js";
import { askUntilAnswered } from "./time-is-up.js";
import { batchView, linesOf, membersOf, snapshotOf } from "./view.js";
import type { BatchSnapshot, Known } from "./view.js";

const provider = "evi-notice";
/** Attempts may last for hours: they take no place from updates and single notices, which answer within seconds. */
const batchQueue = "evi-notice-batch";
/** One attempt that reads or sends a whole list. */
const long = { startToCloseTimeout: "30 minutes" } as const;
/** One attempt that reads every notice at the provider, so many a second. */
const longest = { startToCloseTimeout: "6 hours" } as const;
/** For what begins at a deadline, however many notices there are. */
const MOST_READING_MS = 7 * 86_400_000;
/** So many answers about the notices show how they go on; with more of them the history would grow too long. */
const MAX_ANSWERS_ON_CHANGE = 60;

const { withdraw } = databaseProxy("Withdraw before it is sent");

export async function sendNoticeBatch(input: SendNoticeBatchInput): Promise<SendNoticeBatchResult> {
  return run(new SendNoticeBatch(input));
}

/**
 * `settingUp`: not started yet. `cancelling`: someone cancels it, and the main path looks after its next step. `waiting`: started, and
 * the provider deletes it until the scheduled date. `running`: started for good. `foundStarted`: the provider does not delete it, as a
 * person started it, so it is followed.
 */
type Stage = "settingUp" | "cancelling" | "waiting" | "running" | "foundStarted" | "deleted";

class SendNoticeBatch {
  readonly #input: SendNoticeBatchInput;
  readonly flow = new Flow<BatchSnapshot, ReturnType<typeof batchView>>(batchView);
  readonly #step = stepsOf(this.flow, batchQueue);
  #plan: BatchPlan | undefined;
  #batch: OfBatch | undefined;
  #started: Started | undefined;
  #stage: Stage = "settingUp";
  /** How many deletions are under way. */
  #deletions = 0;
  #processedAt: string | undefined;
  #totals: ItemTotals | undefined;
  #archive: AffidavitArchive | undefined;
  #report: WrittenReport | undefined;

  constructor(input: SendNoticeBatchInput) {
    this.#input = input;
    const { lifecycle, status } = this.flow;
    status.ownStatus = {
      members: () => membersOf(this.#known),
      lines: () => linesOf(this.#known),
    };
    lifecycle.onDecision(cancelBatch, "Delete the batch before its start", [], (_, who) =>
      this.#cancel(occurrenceOfUpdate(), who),
    );
    lifecycle.onUpdate(
      requestBatchAffidavit,
      "Request an affidavit on demand of one notice",
      (asked) => this.#requestAffidavit(asked),
      refuseUnlessNotice,
    );
    onUnsignedCancel(this.flow, cancelBatch.name, () =>
      this.#cancel(ownOccurrences.workflowCancellation),
    );
  }

  async main(): Promise<void> {
    const plan = await this.#prepare();
    this.#plan = plan;
    this.flow.status.identify(plan);
    const budget = new FailureBudget(this.flow, plan);
    await budget.pause();
    const batch = await this.#create(plan);
    if (!(await this.#isStarted(plan, batch))) return;
    await this.#untilReported(plan, batch, budget);
  }

  #prepare(): Promise<BatchPlan> {
    const summary = "Check the input and the list of recipients";
    const step = queryStep("prepare", summary, { attempt: long });
    return this.#step(step, (evi, { mode }) => evi.prepareBatch({ input: this.#input, mode }));
  }

  async #create({ account, description }: BatchPlan): Promise<OfBatch> {
    const step = effectStep("create", "Create the batch", {
      happened: { batchId: wanted.reference },
      lookFor: () => ({ description }),
    });
    const given = { account, ...(description !== undefined && { description }) };
    const { batchId } = await this.#step(step, (evi, call) =>
      evi.createBatch({ ...call, ...given }),
    );
    const { log, status } = this.flow;
    this.#batch = { account, batchId };
    status.references = { batchId };
    status.publish();
    log.note("Created the batch");
    return this.#batch;
  }

  /** Sets it up and starts it; false where it was deleted instead. */
  async #isStarted(plan: BatchPlan, batch: OfBatch): Promise<boolean> {
    const { lifecycle, status } = this.flow;
    try {
      await this.#setUp(plan, batch);
      await this.#start(plan, batch);
      return true;
    } catch (error) {
      if (error instanceof ApplicationFailure && error.type === "NotAccepted") {
        const { answer } = await answerTo(() => this.#deletion(batch, ownOccurrences.notAccepted));
        if (answer === "tooLate") {
          this.#takeAsStarted(plan, batch);
          return true;
        }
      }
      if (!(error instanceof Withdrawn)) throw error;
      // From here on it is deleted, and no longer stopped.
      lifecycle.stopping = undefined;
      lifecycle.stopped = undefined;
      this.#endWaiting();
      if (this.#stage !== "deleted" && !(await this.#delete(batch))) {
        this.#takeAsStarted(plan, batch);
        return true;
      }
      status.ownOutcome = "cancelledBeforeStart";
      return false;
    }
  }

  #takeAsStarted({ deadlineSeconds }: BatchPlan, { batchId }: OfBatch): void {
    const { lifecycle, log, status } = this.flow;
    this.#stage = "foundStarted";
    // A cancellation that came meanwhile stops nothing any more.
    lifecycle.goOn();
    log.note("Found the batch started");
    const deadline = status.deadline ?? secondsFromNow(deadlineSeconds);
    status.effectExists("tracking", { batchId }, deadline);
  }

  async #setUp({ body, list, attachments, fields }: BatchPlan, batch: OfBatch): Promise<void> {
    const { recipients } = list;
    const uploads: [step: string, summary: string, call: Upload][] = [
      ["body", "Upload the body", (evi, call) => evi.setBatchBody({ ...call, ...batch, body })],
      [
        "recipients",
        `Upload the list of ${recipients} recipients`,
        (evi, call) => evi.addRecipients({ ...call, ...batch, list }),
      ],
      [
        "attachments",
        `Upload ${attachments.length} attachments`,
        (evi, call) => evi.addBatchAttachments({ ...call, ...batch, attachments }),
      ],
      [
        "configure",
        "Set what each notice has in common",
        (evi, call) => evi.configureBatch({ ...call, ...batch, fields, recipients }),
      ],
    ];
    for (const [name, summary, call] of uploads) {
      this.#refuseIfCancelled();
      if (name === "attachments" && attachments.length === 0) continue;
      await this.#step({ name, summary, journaled: true, attempt: long }, call);
    }
    this.#refuseIfCancelled();
    const summary = "Compare what the provider has with what was sent";
    const step = queryStep("verify", summary, { attempt: long, happened: {} });
    // Where the provider does not show what was sent, a person who has seen it in the portal lets the batch go on.
    await isWaived(() =>
      this.#step(step, (evi, { mode }) =>
        evi.verifyBatch({ ...batch, list, attachments: attachments.length, mode }),
      ),
    );
    this.#refuseIfCancelled();
  }

  async #start({ scheduledDate }: BatchPlan, batch: OfBatch): Promise<void> {
    const { lifecycle, log, status } = this.flow;
    const step = effectStep("start", "Start the batch");
    const given = { ...batch, ...(scheduledDate !== undefined && { scheduledDate }) };
    const started = await this.#step(step, (evi, call) => evi.startBatch({ ...call, ...given }));
    this.#started = started;
    const due = started.scheduledDate === undefined ? now() : dateOf(started.scheduledDate);
    const deadline = secondsAfter(due, this.#plan?.deadlineSeconds ?? 0);
    const isScheduled = started.scheduledDate !== undefined;
    const isCancelled = this.#stage === "cancelling";
    this.#stage = isScheduled ? "waiting" : "running";
    log.note("Started the batch");
    const { batchId } = batch;
    status.effectExists(isScheduled ? "waiting" : "tracking", { batchId }, deadline);
    if (isCancelled) throw new Withdrawn();
    if (!isScheduled) return;
    const wait = { what: "the scheduled date", end: due, summary: "The scheduled date" };
    await waitUntil(this.flow, () => false, wait);
    // The answer of a deletion that is under way counts.
    await condition(() => this.#deletions === 0);
    if (lifecycle.stopped) throw lifecycle.stopped;
    this.#endWaiting();
    status.enter("tracking");
  }

  async #untilReported(plan: BatchPlan, batch: OfBatch, budget: FailureBudget): Promise<void> {
    const { status } = this.flow;
    const deadline = status.deadline ?? secondsFromNow(plan.deadlineSeconds);
    status.waitFor("the provider to make the notices", deadline);
    const isWithout = await isWaived(() => this.#followProgress(plan, batch, budget, deadline));
    const broken = isWithout ? outcomeOfBroken(this.#known.read?.state) : undefined;
    status.waitFor("the notices", deadline);
    await isWaived(() => this.#watchItems(plan, batch, budget, deadline, broken !== undefined));
    status.ownOutcome = broken ?? (this.#totals?.open === 0 ? "closed" : "openAtDeadline");
    if (plan.settings.collectAffidavits) await isWaived(() => this.#collect(plan, batch));
    status.waitFor(undefined);
    const stamp = now().toISOString();
    const given = { ...batch, list: plan.list, given: plan.given, stamp };
    const step = queryStep("report", "Write the report", { attempt: long });
    this.#report = await this.#step(step, (evi, { mode }) => evi.writeReport({ ...given, mode }));
  }

  /** Until all notices are made, or the deadline. */
  async #followProgress(
    { list, settings }: BatchPlan,
    batch: OfBatch,
    budget: FailureBudget,
    deadline: Date,
  ): Promise<void> {
    const { log } = this.flow;
    const { recipients } = list;
    let seen: BatchRead | undefined;
    while (seen?.state !== "Processed") {
      const step = queryStep("progress", "Ask how far the batch is", {
        happened: {},
        quick: pollEach(settings.progressIntervalSeconds, msUntil(deadline)),
      });
      const { scheduledDate } = this.#started ?? {};
      const allowedFailures = budget.left;
      const given = { ...batch, scheduledDate, recipients, allowedFailures, ...(seen && { seen }) };
      const read = await untilTimeIsUp(() =>
        this.#step(step, (evi, { mode }) => evi.followBatch({ ...given, mode })),
      );
      if (!read) return;
      seen = read;
      log.applySnapshot(snapshotOf(read), []);
      budget.note(read.failedCount ?? 0);
    }
    this.#processedAt = seen.stamp;
  }

  /** Until all notices are closed, or the deadline. `isBroken`: the provider makes no more of them. */
  async #watchItems(
    { list, settings }: BatchPlan,
    batch: OfBatch,
    budget: FailureBudget,
    deadline: Date,
    isBroken: boolean,
  ): Promise<void> {
    // A failed batch may have made any number of notices: its list of recipients is read twice where nothing says how many.
    const {
      state,
      sentCount = state === "Invalid" ? 0 : list.recipients,
      failedCount = 0,
    } = this.#known.read ?? {};
    const given = {
      ...batch,
      list,
      withoutNotice: isBroken ? list.recipients - sentCount : failedCount,
      areAllMade: isBroken || this.#processedAt !== undefined,
      pollIntervalSeconds: settings.pollIntervalSeconds,
      deadline: deadline.toISOString(),
    };
    const step = queryStep("items", "Follow the notices", { happened: {}, attempt: longest });
    const reason =
      "not all notices are read seven days after the deadline; the process reads on, happened goes on to the report with what is known";
    for (let answers = 1; this.#totals?.isLast !== true; answers += 1) {
      const wait = answers > MAX_ANSWERS_ON_CHANGE ? "end" : "change";
      const seen = this.#totals;
      const watch = (waitMs: number) => {
        const quick = readEach(settings.progressIntervalSeconds, waitMs);
        return this.#step({ ...step, quick }, (evi, { mode }) => {
          const allowedFailures = budget.left;
          return evi.watchItems({ ...given, allowedFailures, wait, ...(seen && { seen }), mode });
        });
      };
      const about = { step: step.name, reason, waitMs: msUntil(deadline) };
      const totals = await askUntilAnswered(this.flow, about, watch);
      if (!totals) return;
      this.#totals = totals;
      this.flow.status.refresh();
      budget.note(totals.failed);
    }
  }

  async #collect({ settings }: BatchPlan, batch: OfBatch): Promise<void> {
    const { status } = this.flow;
    const end = secondsFromNow(settings.affidavitWindowSeconds);
    status.enter("affidavits");
    const what = "the affidavits";
    // Not a delay of the activity: that could exceed what is left of its time, which would end it at once.
    const summary = "Time until the affidavits are collected";
    await waitUntil(this.flow, () => false, { what, end, summary });
    status.waitFor(what);
    const given = { ...batch, deadline: end.toISOString(), stamp: now().toISOString() };
    const step = queryStep("affidavits", "Collect the affidavits", {
      happened: {},
      attempt: longest,
    });
    const collect = (waitMs: number) => {
      const quick = readEach(settings.progressIntervalSeconds, waitMs);
      return this.#step({ ...step, quick }, (evi, { mode }) =>
        evi.archiveAffidavits({ ...given, mode }),
      );
    };
    const reason =
      "the affidavits are not all collected after seven days; the process collects on, happened goes on to the report without them";
    const about = { step: step.name, reason, waitMs: 0 };
    this.#archive = await askUntilAnswered(this.flow, about, collect);
  }

  async #cancel(occurrence: string, who: ProvenPerson = {}): Promise<BatchCancelAnswer> {
    const given = await this.#cancelled(occurrence);
    this.flow.log.add(decidedBy(who, `Cancel: ${given.answer}`));
    if (given.answer === "pending") this.#cancelBeforeNextStep();
    return given;
  }

  async #cancelled(occurrence: string): Promise<BatchCancelAnswer> {
    const { lifecycle } = this.flow;
    if (this.#stage === "deleted") return { answer: "cancelled" };
    if (this.#isFoundStarted()) return { answer: "tooLate" };
    if (!this.#started) {
      // Withdrawn, the batch is never created, or never started, whatever else becomes of it.
      for (const step of ["create", "start"]) {
        const answer = await answerTo(() => withdraw({ step }));
        if (typeof answer === "object") return answer;
        if (answer !== "withdrawn") continue;
        if (this.#isFoundStarted()) return { answer: "tooLate" };
        this.#cancelBeforeNextStep();
        if (step === "create" || this.#batch) lifecycle.withdraw();
        return { answer: "cancelled" };
      }
    }
    // It may have been created or started in the meantime.
    if (!this.#started || !this.#batch) return { answer: "pending" };
    if (this.#stage !== "waiting") return { answer: "tooLate" };
    const batch = this.#batch;
    this.#deletions += 1;
    const { answer } = await answerTo(() => this.#deletion(batch, occurrence));
    this.#deletions -= 1;
    if (answer !== "deleted") return { answer };
    this.#stage = "deleted";
    lifecycle.withdraw();
    return { answer: "cancelled" };
  }

  async #requestAffidavit(asked: BatchAffidavitRequest): Promise<BatchAffidavitAnswer> {
    const { account } = this.#batch ?? {};
    if (account === undefined || !this.#plan?.fields.affidavitKinds?.includes("OnDemand"))
      return { answer: "notEligible" };
    const evi = updateProxy(provider, "Request an affidavit from EviNotice");
    const effect = { step: "requestAffidavit", occurrence: occurrenceOfUpdate() };
    const given = await answerTo(() => evi.requestBatchAffidavit({ effect, account, asked }));
    this.flow.log.note(`Affidavit on demand: ${given.answer}`, `notice ${asked.notice}`);
    return given;
  }

  #endWaiting(): void {
    if (this.#stage === "waiting") this.#stage = "running";
  }

  #cancelBeforeNextStep(): void {
    if (this.#stage === "settingUp") this.#stage = "cancelling";
  }

  #refuseIfCancelled(): void {
    if (this.#stage === "cancelling") throw new Withdrawn();
  }

  /** A call, so that the compiler expects another answer after each wait. */
  #isFoundStarted(): boolean {
    return this.#stage === "foundStarted";
  }

  /** True if the provider deleted the batch. False if the batch had been started before. */
  async #delete(batch: OfBatch): Promise<boolean> {
    const step = effectStep("delete", "Delete the batch");
    const { answer } = await this.#step(step, (evi, call) =>
      evi.deleteBatch({ ...call, ...batch, ...this.#startedOnce }),
    );
    this.flow.log.note(`Delete the batch: ${answer}`);
    return answer === "deleted";
  }

  /** A call that nothing waits for longer than an update. */
  async #deletion(
    batch: OfBatch,
    occurrence: string,
  ): Promise<{ answer: "deleted" | "tooLate" | "notPermitted" }> {
    const evi = updateProxy(provider, "Delete the batch");
    const effect = { step: "cancel", occurrence };
    try {
      return await evi.deleteBatch({
        effect,
        mode: "quick",
        ...batch,
        ...this.#startedOnce,
      });
    } catch (error) {
      const isDenied =
        error instanceof ActivityFailure && problemIn(error)?.kind === "accessDenied";
      if (isDenied) return { answer: "notPermitted" };
      throw error;
    }
  }

  get #startedOnce(): { started?: Started } {
    return this.#started ? { started: this.#started } : {};
  }

  get #known(): Known {
    const { snapshot } = this.flow.log;
    const { fingerprint: _, ...read } = snapshot ?? {};
    return {
      list: this.#plan?.check,
      read: snapshot && (read as Known["read"]),
      totals: this.#totals,
    };
  }

  result(): SendNoticeBatchResult {
    const { list, check, attachments = [] } = this.#plan ?? {};
    const { csv, jsonLines, counts } = this.#report ?? {};
    const { archive, ...affidavits } = this.#archive ?? {};
    const recipients = list?.recipients ?? 0;
    const { startedAt, scheduledDate } = this.#started ?? {};
    const submitted = [
      ...(list ? [{ document: list.document, description: "recipients" }] : []),
      ...attachments.map(({ document, fileName }) => ({ document, description: fileName })),
    ];
    return {
      ...this.flow.result("sendNoticeBatch"),
      outcome: (this.flow.status.outcome ?? "openAtDeadline") as BatchOutcome,
      dates: { scheduledDate, startedAt, processedAt: this.#processedAt },
      documents: submitted.map((document) => ({ kind: "submitted", ...document })),
      list: check ?? { recipients: 0, invalidRows: 0, problems: [] },
      counts: counts ?? {
        recipients,
        withoutNotice: recipients,
        states: {},
        outcomes: {},
        sources: {},
      },
      ...(csv && jsonLines && { report: { csv, jsonLines } }),
      archive,
      affidavits: this.#archive && (affidavits as SendNoticeBatchResult["affidavits"]),
    };
  }
}

function refuseUnlessNotice(asked: unknown): void {
  const { notice, ...flags } = givenIn(asked);
  if (typeof notice !== "string" || notice === "" || notice.length > 200)
    throw invalidInput("notice", "must be the id of a notice of the batch");
  refuseUnlessFlags(flags, ["includeBody", "includeAttachments", "includeEvents"]);
}

type Upload = (evi: BatchActivities, call: StepCall) => Promise<void>;

/** The server retries a question that shows nothing new, which adds nothing to the history. */
function pollEach(seconds: number, forMs: number): ActivityOptions {
  return {
    scheduleToCloseTimeout: Math.max(10_000, forMs),
    retry: repeatedEvery(seconds * 1_000),
  };
}

/**
 * The same for what begins after `waitMs` and reads every notice. The interval comes on top, because the server ends a question whose
 * next attempt would come too late.
 */
function readEach(seconds: number, waitMs: number): ActivityOptions {
  return pollEach(seconds, waitMs + MOST_READING_MS + seconds * 1_000);
}
