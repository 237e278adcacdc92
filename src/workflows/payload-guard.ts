// Refuses what no holder of the deployment's keys has written, before the workflow sees it (decision 22): a start fails, a signal
// is dropped, an update and a query are refused, and an activity that a stranger has ended is made again. The worker's codec has
// noted what is wrong with each payload (src/temporal/worker-codec.ts).
import { log, metricMeter, patched, workflowInfo } from "@temporalio/workflow";
import type {
  ActivateInput,
  WorkflowInboundCallsInterceptor,
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
} from "@temporalio/workflow";
import type { Payload } from "@temporalio/common";
import { notEncrypted, policyMark, problemMark } from "../contracts/payload-marks.js";
import type { PayloadProblem } from "../contracts/payload-marks.js";
import { invalidInput } from "./invalid-input.js";

export const interceptors = (): WorkflowInterceptors => {
  const guard = new PayloadGuard();
  return { internals: [guard], inbound: [guard] };
};

type Internals = Required<WorkflowInternalsInterceptor>;
type Inbound = Required<WorkflowInboundCallsInterceptor>;
type Job = NonNullable<ActivateInput["activation"]["jobs"]>[number];
type Payloads = readonly Payload[] | null | undefined;
type Resolution = NonNullable<NonNullable<Job["resolveActivity"]>["result"]>;
type Failure = NonNullable<NonNullable<Resolution["failed"]>["failure"]>;

class PayloadGuard {
  /** What the worker that runs this says of payloads that are not encrypted. */
  #policy = "refuse";
  /** This run has refused something: its history says so from there on. */
  #hasRefused = false;
  #isStartRefused = false;
  /** Ids of updates and of queries. */
  readonly #refused = new Set<string>();

  activate: Internals["activate"] = (input, next) => {
    const { activation } = input;
    const jobs = (activation.jobs ?? []).filter((job) => this.#isLet(job));
    next({ ...input, activation: { ...activation, jobs } });
  };

  execute: Inbound["execute"] = async (input, next) => {
    if (!this.#isStartRefused) return next(input);
    throw invalidInput("(input)", notEncrypted);
  };

  validateUpdate: Inbound["validateUpdate"] = (input, next) => {
    if (this.#refused.delete(input.updateId)) throw invalidInput("(argument)", notEncrypted);
    next(input);
  };

  handleQuery: Inbound["handleQuery"] = async (input, next) => {
    if (this.#refused.delete(input.queryId)) throw invalidInput("(argument)", notEncrypted);
    return next(input);
  };

  /** False for a signal that is dropped; what else is refused keeps its place without its payloads. */
  #isLet(job: Job): boolean {
    const { initializeWorkflow: start, signalWorkflow: signal, doUpdate: update } = job;
    const { queryWorkflow: query, resolveActivity: activity } = job;
    if (start) {
      this.#policy = textOf(start.arguments?.[0], policyMark) ?? this.#policy;
      // What no key opens waits for the key.
      if (problemIn(start.arguments) === "plaintext" && this.#isRefused("start")) {
        this.#isStartRefused = true;
        start.arguments = [];
      }
    } else if (signal) {
      return !(problemIn(signal.input) && this.#isRefused("signal", signal.signalName));
    } else if (update?.id && update.runValidator && this.#isRefusedAlways(update.input)) {
      this.#refused.add(update.id);
      update.input = [];
      count("update");
    } else if (query?.queryId && this.#isRefusedAlways(query.arguments)) {
      this.#refused.add(query.queryId);
      query.arguments = [];
    } else if (activity?.result && isStrangers(activity.result) && this.#isRefused("activity")) {
      activity.result = { failed: { failure: refusedAnswer } };
    }
    return true;
  }

  /** What leaves nothing in the history needs no memory. */
  #isRefusedAlways(payloads: Payloads): boolean {
    return this.#policy === "refuse" && problemIn(payloads) !== undefined;
  }

  /**
   * The same in each replay, whatever the policy is by then: the first refusal of a run leaves a mark in its history. Before the
   * mark everything was accepted, after it nothing is.
   */
  #isRefused(of: "start" | "signal" | "activity", signal?: string | null): boolean {
    const { isReplaying } = workflowInfo().unsafe;
    if (!this.#hasRefused && !isReplaying && this.#policy === "accept") return false;
    this.#hasRefused ||= patched("refuses-plaintext");
    if (this.#hasRefused) {
      count(of);
      const details = signal ? { signalName: signal } : {};
      log.warn("a payload that is not encrypted was refused", { operation: of, ...details });
    }
    return this.#hasRefused;
  }
}

function count(of: string): void {
  metricMeter.createCounter("trustflow_payloads_refused").add(1, { of });
}

function problemIn(payloads: Payloads): PayloadProblem | undefined {
  const problems = (payloads ?? []).map((payload) => textOf(payload, problemMark));
  return problems.find((problem) => problem !== undefined) as PayloadProblem | undefined;
}

function textOf(payload: Payload | null | undefined, mark: string): string | undefined {
  const value = payload?.metadata?.[mark];
  return value ? String.fromCharCode(...value) : undefined;
}

/** Our worker encrypts each result, one that is nothing too, and the message of each failure. What no key opens waits for the key. */
function isStrangers({ completed, failed }: Resolution): boolean {
  if (completed) return !completed.result || problemIn([completed.result]) === "plaintext";
  return failed ? isStrangersFailure(failed.failure) : false;
}

/** Failures of other kinds come from the server, such as a timeout. */
function isStrangersFailure(failure: Failure | null | undefined): boolean {
  if (!failure) return false;
  const { applicationFailureInfo: own, encodedAttributes: hidden, cause } = failure;
  const isInClear =
    own && (!hidden || problemIn([hidden, ...(own.details?.payloads ?? [])]) === "plaintext");
  return Boolean(isInClear) || isStrangersFailure(cause);
}

/** Says nothing of the provider: the step is made again, and the journal answers what has happened. */
const refusedAnswer: Failure = {
  message: "the answer was not encrypted",
  activityFailureInfo: { activityType: { name: "activity" } },
  cause: {
    message: "the answer was not encrypted",
    applicationFailureInfo: { type: "NotEncrypted", nonRetryable: true },
  },
};
