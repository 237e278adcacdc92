// Refuses payloads that were not written with the deployment's keys, before the workflow sees them (decision 22): a start
// fails, a signal is dropped, an update and a query are refused, and an activity that a stranger completed is made again. The
// worker's codec has marked the problem of each payload (src/temporal/codec/data-converter.ts). An activity is also made again where
// its answer is another encrypted payload of the process (answers.ts).
import {
  defaultPayloadConverter,
  log,
  metricMeter,
  patched,
  workflowInfo,
} from "@temporalio/workflow";
import type {
  ActivateInput,
  WorkflowInboundCallsInterceptor,
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
  WorkflowOutboundCallsInterceptor,
} from "@temporalio/workflow";
import type { Payload } from "@temporalio/common";
import {
  notEncrypted,
  notTagged,
  policyMark,
  problemMark,
} from "../../contracts/shared/payload-marks.js";
import { counterOf, metrics } from "../../contracts/shared/metrics.js";
import type { PayloadProblem } from "../../contracts/shared/payload-marks.js";
import { invalidInput } from "./activity-errors.js";
import { isAnswerOf } from "./answer-members.js";

export const interceptors = (): WorkflowInterceptors => {
  const guard = new PayloadGuard();
  return { internals: [guard], inbound: [guard], outbound: [guard] };
};

type Internals = Required<WorkflowInternalsInterceptor>;
type Inbound = Required<WorkflowInboundCallsInterceptor>;
type Outbound = Required<WorkflowOutboundCallsInterceptor>;
type Job = NonNullable<ActivateInput["activation"]["jobs"]>[number];
type Payloads = readonly Payload[] | null | undefined;
type Resolution = NonNullable<NonNullable<Job["resolveActivity"]>["result"]>;
type Failure = NonNullable<NonNullable<Resolution["failed"]>["failure"]>;

class PayloadGuard {
  /** The kinds of payloads that this worker refuses. */
  #policy: string[] = ["plaintext", "unreadable", "forged", "untagged"];
  /** The kinds that this run has refused once; a mark in its history records that. */
  readonly #patches = new Set<string>();
  #startRefused: string | undefined;
  /** Each reason stands under the id of its update or query. */
  readonly #refused = new Map<string, string>();
  /** The activities that have no answer yet: task queue and name. */
  readonly #open = new Map<number, { queue: string; name: string }>();

  activate: Internals["activate"] = (input, next) => {
    const { activation } = input;
    const jobs = (activation.jobs ?? []).filter((job) => this.#isLet(job));
    next({ ...input, activation: { ...activation, jobs } });
  };

  scheduleActivity: Outbound["scheduleActivity"] = (input, next) => {
    const { seq, activityType: name, options } = input;
    this.#open.set(seq, { queue: options.taskQueue ?? "", name });
    return next(input);
  };

  execute: Inbound["execute"] = async (input, next) => {
    if (this.#startRefused === undefined) return next(input);
    throw invalidInput("(input)", this.#startRefused);
  };

  validateUpdate: Inbound["validateUpdate"] = (input, next) => {
    this.#throwRefused(input.updateId);
    next(input);
  };

  handleQuery: Inbound["handleQuery"] = async (input, next) => {
    if (input.queryId !== undefined) this.#throwRefused(input.queryId);
    return next(input);
  };

  #throwRefused(id: string): void {
    const why = this.#refused.get(id);
    this.#refused.delete(id);
    if (why !== undefined) throw invalidInput("(argument)", why);
  }

  /** Returns false for a signal that is dropped; any other refused job stays, without its payloads. */
  #isLet(job: Job): boolean {
    const { initializeWorkflow: start, signalWorkflow: signal, doUpdate: update } = job;
    const { queryWorkflow: query, resolveActivity: activity } = job;
    const { resolveChildWorkflowExecution: child } = job;
    if (start) {
      this.#policy = textOf(start.arguments?.[0], policyMark)?.split(",") ?? this.#policy;
      const problem = problemIn(start.arguments);
      // A payload with an unknown key waits for the key.
      if (problem && problem !== "unreadable" && this.#isRefused(problem, "start")) {
        this.#startRefused = whyOf(problem);
        start.arguments = [];
      }
    } else if (signal) {
      const problem = problemIn(signal.input);
      return !(problem && this.#isRefused(problem, "signal", signal.signalName));
    } else if (update?.id && update.runValidator) {
      if (this.#noteRefused(update.id, update.input)) {
        update.input = [];
        count("update");
      }
    } else if (query?.queryId) {
      if (this.#noteRefused(query.queryId, query.arguments)) query.arguments = [];
    } else if (child) {
      // Nobody reads it: a process looks at its child. A payload that cannot be read would stop every later task of the parent.
      child.result = { completed: {} };
    } else if (activity?.result) {
      const problem = problemOfAnswer(activity.result);
      const isRefused = problem !== undefined && this.#isRefused(problem, "activity");
      if (isRefused || this.#isOfAnother(activity))
        activity.result = { failed: { failure: refusedAnswer } };
    }
    return true;
  }

  /** Depends on the history alone, so it needs no mark there. What cannot be read yet waits for its key. */
  #isOfAnother({ seq, result }: NonNullable<Job["resolveActivity"]>): boolean {
    const activity = this.#open.get(seq ?? 0);
    this.#open.delete(seq ?? 0);
    const { completed } = result ?? {};
    const isRead = completed && problemIn([completed.result ?? {}]) !== "unreadable";
    if (!activity || !isRead) return false;
    if (isAnswerOf(activity.queue, activity.name, valueOf(completed.result))) return false;
    count("activity");
    log.warn("refused an answer that is not the activity's", { activity: activity.name });
    return true;
  }

  /** A job that leaves nothing in the history needs no mark there. */
  #noteRefused(id: string, payloads: Payloads): boolean {
    const problem = problemIn(payloads);
    if (!problem || !this.#policy.includes(problem)) return false;
    this.#refused.set(id, whyOf(problem));
    return true;
  }

  /**
   * The same in each replay, whatever the worker refuses by then: the first refusal of a run leaves a mark in its history. Before
   * the mark everything was accepted, after it nothing is.
   */
  #isRefused(problem: PayloadProblem, of: string, signalName?: string | null): boolean {
    const patch = problem === "untagged" ? "refuses-untagged" : "refuses-plaintext";
    if (!this.#patches.has(patch)) {
      const isAccepted = !workflowInfo().unsafe.isReplaying && !this.#policy.includes(problem);
      if (isAccepted || !patched(patch)) return false;
      this.#patches.add(patch);
    }
    count(of);
    const details = { operation: of, problem, ...(signalName && { signalName }) };
    log.warn("refused a payload that was not written with one of the keys", details);
    return true;
  }
}

/** An answer that cannot be read counts as none. */
function valueOf(payload: Payload | null | undefined): unknown {
  try {
    return payload ? defaultPayloadConverter.fromPayload(payload) : undefined;
  } catch {
    return undefined;
  }
}

function whyOf(problem: PayloadProblem): string {
  return problem === "untagged" ? notTagged : notEncrypted;
}

function count(of: string): void {
  metricMeter.createCounter(...counterOf(metrics.payloadsRefused)).add(1, { of });
}

function problemIn(payloads: Payloads): PayloadProblem | undefined {
  const problems = (payloads ?? []).map((payload) => textOf(payload, problemMark));
  return problems.find((problem) => problem !== undefined) as PayloadProblem | undefined;
}

function textOf(payload: Payload | null | undefined, mark: string): string | undefined {
  const value = payload?.metadata?.[mark];
  return value ? String.fromCharCode(...value) : undefined;
}

/**
 * Our worker encrypts each result, one that is nothing too, and the message of each failure. What names a key that the
 * ring lacks waits for it.
 */
function problemOfAnswer({ completed, failed }: Resolution): PayloadProblem | undefined {
  const problem = completed
    ? completed.result
      ? problemIn([completed.result])
      : "plaintext"
    : problemOfFailure(failed?.failure);
  return problem === "unreadable" ? undefined : problem;
}

/** Failures of other kinds come from the server, such as a timeout. */
function problemOfFailure(failure: Failure | null | undefined): PayloadProblem | undefined {
  if (!failure) return undefined;
  const { applicationFailureInfo: info, encodedAttributes: hidden, cause } = failure;
  if (info && !hidden) return "plaintext";
  const problem = info && problemIn([hidden as Payload, ...(info.details?.payloads ?? [])]);
  return problem ?? problemOfFailure(cause);
}

/** This error says nothing about the provider: the step is repeated, and the journal has the real result. */
const refusedAnswer: Failure = {
  message: "the answer does not come from a worker",
  activityFailureInfo: { activityType: { name: "activity" } },
  cause: {
    message: "the answer does not come from a worker",
    applicationFailureInfo: { type: "NotEncrypted", nonRetryable: true },
  },
};
