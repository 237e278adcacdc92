// Runs workflow code inside a test, on the SDK's own runtime and without a server. The test answers the activities, and timers
// fire only when the test lets time pass.
import { vi } from "vitest";
import { ActivityFailure, ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import { setActivator } from "@temporalio/workflow/lib/global-attributes.js";
import { Activator } from "@temporalio/workflow/lib/internals.js";
import {
  activate,
  concludeActivation,
  tryUnblockConditions,
} from "@temporalio/workflow/lib/worker-interface.js";
import { searchAttributes, statusMemo } from "../../src/contracts/shared/names.js";
import type { Problem } from "../../src/contracts/shared/failures.js";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";
import type { WorkflowInterceptors } from "@temporalio/workflow";
import { interceptors as statusMemoInterceptors } from "../../src/workflows/runtime/status-memo.js";

/** One scheduled activity; it stays open until the test answers it. */
export interface FakeCall {
  type: string;
  input: any;
  summary: string | undefined;
  taskQueue: string;
  /** An attempt that sends no heartbeat for a while is given up. */
  needsHeartbeat: boolean;
  isPatient: boolean;
  /** The longest time between two attempts; NaN where the server's own limit holds. */
  maximumIntervalSeconds: number;
  isCancelled: boolean;
  answer(value: unknown): Promise<void>;
  fail(problem: Partial<Problem>): Promise<void>;
}

/** A child workflow that was started; it stays open until the test ends it. */
export interface FakeChild {
  type: string;
  workflowId: string;
  input: any;
  /** As the command has them: enums of the protocol. */
  parentClosePolicy: number;
  workflowIdReusePolicy: number;
  cancellationType: number;
  /** The event of its end; what it says matters to nobody. */
  end(): Promise<void>;
}

/** More than any workflow of a test makes. */
const MAX_CALLS = 1_000;

/** START_CHILD_WORKFLOW_EXECUTION_FAILED_CAUSE_WORKFLOW_ALREADY_EXISTS */
const ALREADY_EXISTS = 1;

interface RunOptions {
  /** The guard of payloads: with it a fake has to answer with all that the workflow reads. */
  guard?: WorkflowInterceptors;
  /** Temporal's cancellation comes before the first workflow task. */
  isCancelledEarly?: true;
  /** An update gives it its first workflow task before this time is over. */
  startDelaySeconds?: number;
}

/** An activity that is answered at once, or fails with what it throws. */
type FakeActivity = (input: any) => unknown;
/** Those that are missing or undefined stay open. */
type Fakes = Record<string, FakeActivity | undefined>;

/** What an activity fails with, unless the test says otherwise. */
export const unavailable: Problem = {
  kind: "unavailable",
  provider: "evi-post",
  operation: "submit",
  environment: "sandbox",
  account: "default",
  fields: [],
};

export class WorkflowRun {
  /** Every activity that was scheduled, in order. */
  readonly calls: FakeCall[] = [];
  /** Every child workflow that was started, in order. */
  readonly children: FakeChild[] = [];
  /** The ids under which no child starts, because a process is there. */
  readonly existing = new Set<string>();
  /** Each status that was written into the memo, in order. */
  readonly memos: ProcessStatus[] = [];
  /** The references by which Temporal finds the process, as they were set last. */
  references: string[] = [];
  /** What the workflow has returned; undefined while it runs. */
  result: unknown;
  /** What the workflow has failed with. */
  failure: ApplicationFailure | undefined;
  readonly #activator: Activator;
  readonly #fakes: Fakes;
  readonly #timers = new Map<number, { at: number; summary: unknown }>();
  readonly #updates = new Map<string, { settle(answer: unknown): void }>();
  readonly #bySeq = new Map<number, FakeCall>();
  #now = Date.UTC(2026, 0, 1);
  #updateCount = 0;
  readonly #queried = new Map<string, unknown>();
  #queryCount = 0;

  private constructor(
    workflow: () => Promise<unknown>,
    fakes: Fakes,
    processName: string,
    { guard, startDelaySeconds = 0 }: RunOptions,
  ) {
    this.#fakes = fakes;
    const info = {
      workflowId: `${processName}/test`,
      runId: "run",
      firstExecutionRunId: "run",
      workflowType: processName,
      namespace: "default",
      taskQueue: "workflows",
      attempt: 1,
      startTime: new Date(this.#now),
      cronScheduleToScheduleInterval: startDelaySeconds * 1_000 || undefined,
      unsafe: { isReplaying: false, isReplayingHistoryEvents: false },
    };
    const options = {
      info,
      now: this.#now,
      randomnessSeed: [1],
      getTimeOfDay: () => 0n,
      registeredActivityNames: new Set<string>(),
    };
    this.#activator = new Activator(options as any);
    this.#activator.workflow = workflow;
    this.#activator.initializeWorkflow({});
    const { internals, inbound, outbound } = this.#activator.interceptors;
    internals.push(...(guard?.internals ?? []), ...(statusMemoInterceptors().internals ?? []));
    inbound.push(...(guard?.inbound ?? []));
    outbound.push(...(guard?.outbound ?? []));
    vi.useFakeTimers({ now: this.#now, toFake: ["Date"] });
    setActivator(this.#activator);
  }

  /** Runs `workflow` until it waits. */
  static async start(
    workflow: () => Promise<unknown>,
    fakes: Fakes = {},
    processName = "sendPostal",
    existing: string[] = [],
    options: RunOptions = {},
  ): Promise<WorkflowRun> {
    const run = new WorkflowRun(workflow, fakes, processName, options);
    for (const workflowId of existing) run.existing.add(workflowId);
    const start = { variant: "initializeWorkflow", initializeWorkflow: {} };
    const cancel = { variant: "cancelWorkflow", cancelWorkflow: {} };
    activate({ jobs: [start, ...(options.isCancelledEarly ? [cancel] : [])] } as any);
    await run.#settle();
    return run;
  }

  /** The calls that were neither answered nor cancelled. */
  get open(): FakeCall[] {
    return [...this.#bySeq.values()];
  }

  /** The one call of this activity that is open, or the first of them. */
  openCall(name: string): FakeCall {
    const call = this.open.find(({ type }) => type === name);
    if (!call) throw new Error(`${name} is not open`);
    return call;
  }

  callsOf(name: string): FakeCall[] {
    return this.calls.filter(({ type }) => type === name);
  }

  /** What the running timers are for, as the Web UI shows it. */
  get timers(): unknown[] {
    return [...this.#timers.values()].map(({ summary }) => summary);
  }

  /** The scheduled activities by name. */
  get types(): string[] {
    return this.calls.map(({ type }) => type);
  }

  /** Lets time pass; each timer fires at its time. */
  async pass(seconds: number): Promise<void> {
    const end = this.#now + seconds * 1_000;
    for (;;) {
      const [next] = [...this.#timers].toSorted(([, one], [, other]) => one.at - other.at);
      if (!next || next[1].at > end) break;
      this.#timers.delete(next[0]);
      this.#setNow(next[1].at);
      await this.#activate("fireTimer", { seq: next[0] });
    }
    this.#setNow(end);
  }

  /** What the test changed from outside, seen by the workflow: a condition may have come true. */
  async look(change: () => void): Promise<void> {
    change();
    await this.#settle();
  }

  async signal(signalName: string, argument: unknown): Promise<void> {
    const input = [defaultPayloadConverter.toPayload(argument)];
    await this.#activate("signalWorkflow", { signalName, input });
  }

  /** Sends an update; `answer` is set as soon as the workflow has answered, `refused` where it refused or failed it. */
  async update(
    name: string,
    argument?: unknown,
    id = `update-${(this.#updateCount += 1)}`,
  ): Promise<{ answer?: unknown; refused?: ApplicationFailure }> {
    const state: { answer?: unknown; refused?: ApplicationFailure } = {};
    this.#updates.set(id, { settle: (answer) => Object.assign(state, answer) });
    const input = argument === undefined ? [] : [defaultPayloadConverter.toPayload(argument)];
    const job = { id, protocolInstanceId: id, name, input, runValidator: true };
    await this.#activate("doUpdate", job);
    return state;
  }

  /** What a query answers. */
  async query(queryType: string, ...args: unknown[]): Promise<unknown> {
    this.#queryCount += 1;
    const queryId = `query-${this.#queryCount}`;
    const given = args.map((argument) => defaultPayloadConverter.toPayload(argument));
    await this.#activate("queryWorkflow", { queryType, queryId, arguments: given });
    return this.#queried.get(queryId);
  }

  async status(): Promise<ProcessStatus> {
    return (await this.query("status")) as ProcessStatus;
  }

  async attention(): Promise<ProcessStatus["attention"]> {
    return (await this.status()).attention;
  }

  /** A person's decision, about the attention that is shown first where none is named. */
  async resolve(
    decision: string,
    { attention, ...more }: { attention?: string; result?: object } = {},
  ) {
    const id = attention ?? (await this.attention())?.id;
    return this.update("resolve", { attention: id, decision, by: "Ada", ...more });
  }

  /** As the Web UI's Cancel. */
  async cancel(): Promise<void> {
    await this.#activate("cancelWorkflow", {});
  }

  /** Answers these calls in this order, and in one workflow task. */
  async answerTogether(...answers: [call: FakeCall, value: unknown][]): Promise<void> {
    const jobs = answers.map(([call, value]) => {
      const [seq = 0] = [...this.#bySeq].find(([, open]) => open === call) ?? [];
      this.#bySeq.delete(seq);
      const result = { completed: { result: defaultPayloadConverter.toPayload(value) } };
      return { variant: "resolveActivity", resolveActivity: { seq, result } };
    });
    activate({ jobs } as any);
    await this.#settle();
  }

  #setNow(now: number): void {
    this.#now = now;
    this.#activator.now = now;
    vi.setSystemTime(now);
  }

  async #activate(variant: string, job: object): Promise<void> {
    activate({ jobs: [{ variant, [variant]: job }] } as any);
    await this.#settle();
  }

  async #settle(): Promise<void> {
    do await microtasks();
    while (tryUnblockConditions() > 0);
    const { commands } = concludeActivation().successful as { commands: any[] };
    for (const command of commands) await this.#obey(command);
  }

  async #obey(command: any): Promise<void> {
    const { scheduleActivity, requestCancelActivity, startTimer, cancelTimer } = command;
    if (scheduleActivity) await this.#schedule(command);
    if (requestCancelActivity) await this.#cancelCall(requestCancelActivity.seq);
    if (command.startChildWorkflowExecution) await this.#startChild(command);
    if (startTimer) {
      const { seconds, nanos } = startTimer.startToFireTimeout;
      const at = this.#now + Number(seconds) * 1_000 + (nanos ?? 0) / 1e6;
      this.#timers.set(startTimer.seq, { at, summary: valueOf(command.userMetadata?.summary) });
    }
    if (cancelTimer) this.#timers.delete(cancelTimer.seq);
    const { queryId, succeeded } = command.respondToQuery ?? {};
    if (queryId) this.#queried.set(queryId, valueOf(succeeded?.response));
    const { fields } = command.modifyWorkflowProperties?.upsertedMemo ?? {};
    if (fields?.[statusMemo]) this.memos.push(valueOf(fields[statusMemo]) as ProcessStatus);
    const { indexedFields } = command.upsertWorkflowSearchAttributes?.searchAttributes ?? {};
    const references = indexedFields?.[searchAttributes.references.name];
    if (references) this.references = valueOf(references) as string[];
    if (command.updateResponse) this.#answered(command.updateResponse);
    if (command.completeWorkflowExecution)
      this.result = valueOf(command.completeWorkflowExecution.result) ?? null;
    if (command.failWorkflowExecution)
      this.failure = errorOf(command.failWorkflowExecution.failure);
  }

  #answered({ protocolInstanceId, completed, rejected }: any): void {
    const update = this.#updates.get(protocolInstanceId);
    if (completed) update?.settle({ answer: valueOf(completed) });
    if (rejected) update?.settle({ refused: errorOf(rejected) });
  }

  async #startChild({ startChildWorkflowExecution: started }: any): Promise<void> {
    const { seq, workflowId, workflowType } = started;
    const isThere = this.existing.has(workflowId);
    if (!isThere)
      this.children.push({
        ...started,
        type: workflowType,
        input: valueOf(started.input[0]),
        end: () =>
          this.#activate("resolveChildWorkflowExecution", { seq, result: { completed: {} } }),
      });
    await this.#activate("resolveChildWorkflowExecutionStart", {
      seq,
      ...(isThere
        ? { failed: { workflowId, workflowType, cause: ALREADY_EXISTS } }
        : { succeeded: { runId: "child" } }),
    });
  }

  async #schedule({ scheduleActivity: scheduled, userMetadata }: any): Promise<void> {
    const { seq, activityType: type } = scheduled;
    const call: FakeCall = {
      type,
      input: valueOf(scheduled.arguments[0]),
      summary: valueOf(userMetadata?.summary) as string | undefined,
      taskQueue: scheduled.taskQueue,
      needsHeartbeat: scheduled.heartbeatTimeout !== undefined,
      isPatient: !scheduled.scheduleToCloseTimeout,
      maximumIntervalSeconds: Number(scheduled.retryPolicy?.maximumInterval?.seconds ?? NaN),
      isCancelled: false,
      answer: (value) => {
        const answer = type === "checkDecision" ? named(call.input, value) : value;
        const result = defaultPayloadConverter.toPayload(answer);
        return this.#resolve(seq, { completed: { result } });
      },
      fail: (problem) => this.#resolve(seq, { failed: { failure: failureOf(type, problem) } }),
    };
    this.calls.push(call);
    // A fake that fails each call of a patient phase at once.
    if (this.calls.length > MAX_CALLS) throw new Error(`${type} is called without end`);
    this.#bySeq.set(seq, call);
    const fake = this.#fakes[type];
    if (!fake) return;
    try {
      await call.answer(fake(call.input));
    } catch (problem) {
      if (problem instanceof Error) throw problem;
      await call.fail(problem as Partial<Problem>);
    }
  }

  async #resolve(seq: number, result: object): Promise<void> {
    if (!this.#bySeq.delete(seq)) throw new Error("the call is not open any more");
    await this.#activate("resolveActivity", { seq, result });
  }

  async #cancelCall(seq: number): Promise<void> {
    const call = this.#bySeq.get(seq);
    if (!call) return;
    call.isCancelled = true;
    const cause = new CancelledFailure("cancelled");
    await this.#resolve(seq, { cancelled: { failure: activityFailure(call.type, cause) } });
  }
}

/** An accepted decision names itself, as the activity does it, unless the test gives the member `checked`. */
function named({ update, updateId, firstRunId }: any, answer: unknown): unknown {
  const isProof = typeof answer === "object" && answer !== null && !("refused" in answer);
  return isProof ? { checked: { update, updateId, firstRunId }, ...answer } : answer;
}

const microtasks = () => new Promise<void>((resolve) => setImmediate(resolve));

function valueOf(payload: any): unknown {
  return payload ? defaultPayloadConverter.fromPayload(payload) : undefined;
}

function errorOf(failure: any): ApplicationFailure {
  return defaultFailureConverter.failureToError(failure, defaultPayloadConverter) as any;
}

function failureOf(type: string, problem: Partial<Problem>) {
  const whole = { ...unavailable, ...problem };
  return activityFailure(type, ApplicationFailure.nonRetryable("failed", whole.kind, whole));
}

function activityFailure(type: string, cause: Error) {
  const failure = new ActivityFailure("failed", type, "1", "NON_RETRYABLE_FAILURE", "", cause);
  return defaultFailureConverter.errorToFailure(failure, defaultPayloadConverter);
}
