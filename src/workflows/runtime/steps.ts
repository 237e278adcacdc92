// A step: first quick, then patient with an open attention, until the provider answers or a person decides (docs/design.md §6). All
// processes share it. Retries are made by the server and add nothing to the history.
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
} from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { Queue, Queues } from "../../activities/queues.js";
import type { StepCall } from "../../activities/runtime/activity.js";
import type { AttemptMode } from "../../activities/runtime/failure.js";
import { problemsInWords } from "../../contracts/shared/failures.js";
import type { FailureDetails, Problem } from "../../contracts/shared/failures.js";
import { providerProxy, patientOptions, quickOptions } from "./activity-options.js";
import type { Attention } from "../../contracts/shared/status.js";
import { plainText } from "../../contracts/shared/text.js";
import { reasonOf } from "./attention.js";
import type { Decided, OpenAttention, Wanted } from "./attention.js";
import { problemIn } from "./activity-errors.js";
import { now } from "./clock.js";
import type { AnyFlow } from "./flow.js";
import { Withdrawn } from "./lifecycle.js";

export interface Step {
  name: string;
  /** In business words, for the Web UI. */
  summary: string;
  /** The host, if the provider has several; the operator sees it. */
  host?: string;
  /** Whether it has an effect, and so a row in the journal. */
  journaled: boolean;
  /** An operator must supply it with `happened`. Empty: the step can be waived. Absent: neither. */
  happened?: Wanted;
  /**
   * What the call carries by which a person may find its effect in the provider's portal, beside the references that the process knows by
   * then; asked only once the call was sent. `ownKey` is the journal's token of the call.
   */
  lookFor?(ownKey: string | undefined): Record<string, string | undefined>;
  /** Default `0`; another value if the step is repeated with a new input. */
  occurrence?: string;
  quick?: ActivityOptions;
  /** How long one attempt may take, where that is longer than usual. */
  attempt?: Pick<ActivityOptions, "startToCloseTimeout">;
}

type More = Partial<Omit<Step, "name" | "summary" | "journaled">>;

/** A step that has an effect. With `happened` an operator supplies nothing, unless `more` says what. */
export function effectStep(name: string, summary: string, more: More = {}): Step {
  return { name, summary, journaled: true, happened: {}, ...more };
}

/** A step that only asks or keeps. */
export function queryStep(name: string, summary: string, more: More = {}): Step {
  return { name, summary, journaled: false, ...more };
}

/** An update's own call has left the problem open: the step begins with an attention. */
export interface OpenOccurrence {
  occurrence: string;
  problem: Problem;
  attempts: Attempt[];
}

export type Attempt = NonNullable<Attention["attempts"]>[number];

/** What a person looks for. The status, which stands in the memo, stays small. */
const MAX_SOUGHT_BYTES = 200;
/** An attention shows so many. */
const MAX_ATTEMPTS = 10;

/** An operator decided to continue without the step. */
class Waived extends Error {}

/** Whether an operator decided to continue without the result of `work`. */
export async function isWaived(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof Waived) return true;
    throw error;
  }
}

/** The time limit of a query ended before anything changed. */
class NothingNew extends Error {}

/** Returns undefined if the time of the question ended before anything changed. */
export async function untilTimeIsUp<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NothingNew) return undefined;
    throw error;
  }
}

type StepOutcome<T> = { value: T } | { problem: Problem } | { decided: Decided } | { stop: Error };

/** Makes a step by a call of these activities. */
export type Steps<A> = <T>(
  step: Step,
  call: (activities: A, stepCall: StepCall) => Promise<T>,
  leftOpen?: OpenOccurrence,
) => Promise<T>;

export function stepsOf<Q extends Queue>(flow: AnyFlow, queue: Q): Steps<Queues[Q]> {
  return async <T>(
    step: Step,
    call: (activities: Queues[Q], stepCall: StepCall) => Promise<T>,
    leftOpen?: OpenOccurrence,
  ): Promise<T> => {
    let occurrence = leftOpen?.occurrence ?? step.occurrence ?? "0";
    const attempts: (Pick<Attempt, "from"> & Partial<Attempt>)[] = [...(leftOpen?.attempts ?? [])];
    const callWith = (options: ActivityOptions, mode: AttemptMode): Promise<T> => {
      if (mode !== "watch") attempts.push({ from: now().toISOString() });
      flow.lifecycle.occurrences.set(step.name, occurrence);
      return call(providerProxy(queue, options), { effect: { step: step.name, occurrence }, mode });
    };
    let outcome: StepOutcome<T> = leftOpen ?? (await quick(flow, step, "quick", callWith));
    for (;;) {
      if ("value" in outcome) return outcome.value;
      if ("stop" in outcome) throw outcome.stop;
      const until = now().toISOString();
      const ended = attempts.splice(0).map((attempt) => ({ until, ...attempt }));
      attempts.push(...ended.slice(-MAX_ATTEMPTS));
      if ("problem" in outcome) {
        outcome = await patient(flow, { ...step, occurrence }, outcome.problem, ended, callWith);
        continue;
      }
      const { decided } = outcome;
      if (decided.decision === "abandon") throw flow.lifecycle.abandoned(step.name, decided);
      if (decided.decision === "happened" && !step.journaled) throw new Waived();
      occurrence = decided.occurrence ?? occurrence;
      const mode = decided.decision === "retry" ? "probe" : "quick";
      outcome = await quick(flow, step, mode, callWith);
    }
  };
}

type CallWith<T> = (options: ActivityOptions, mode: AttemptMode) => Promise<T>;

/** Makes one call. If waiting does not help, the failure goes to the workflow; the end of the process cancels the call. */
async function quick<T>(
  flow: AnyFlow,
  { summary, attempt, quick: ownOptions }: Step,
  mode: "quick" | "probe",
  callWith: CallWith<T>,
): Promise<StepOutcome<T>> {
  const call = () => callWith({ ...quickOptions, ...attempt, ...ownOptions, summary }, mode);
  const { stopping } = flow.lifecycle;
  // Keeps the usual case cheap: the SDK keeps a stack trace for each promise.
  if (!stopping) return outcomeOf(flow, summary, call);
  const scope = new CancellationScope();
  const answer = scope.run(() => outcomeOf(flow, summary, call));
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, stopping]);
  } finally {
    scope.cancel();
  }
}

/** How often a callback restarts a patient call that only looks; each restart adds a few events to the history. */
const MAX_LOOKS = 50;

/**
 * Raises attention and keeps calling. It ends with the first of: the activity's answer or failure, a person's decision, the end
 * of the process. Each callback meanwhile restarts a call that only looks: it may have made the answer known (docs/design.md §6). One that
 * sends goes on: to break it off could lose the answer.
 */
async function patient<T>(
  flow: AnyFlow,
  step: Step,
  problem: Problem,
  attempts: Attempt[],
  callWith: CallWith<T>,
): Promise<StepOutcome<T>> {
  const attention = raise(flow, step, problem, attempts);
  const { kind, sends } = attention;
  const summary = `${step.summary} (${kind}: ${sends ? "keeps trying" : "waits for the answer"})`;
  const options = { ...patientOptions, ...step.attempt, summary };
  const call = () => callWith(options, sends ? "send" : "watch");
  const { stopping } = flow.lifecycle;
  const others: Promise<StepOutcome<T>>[] = [
    ...(stopping ? [stopping] : []),
    attention.decided.then((decided) => ({ decided })),
  ];
  for (let looks = 1; ; looks += 1) {
    const scope = new CancellationScope();
    const answer = scope.run(() => outcomeOf(flow, summary, call));
    const ends: Promise<StepOutcome<T> | "news">[] = [answer, ...others];
    if (!sends && looks < MAX_LOOKS) ends.push(scope.run(() => news(flow)));
    for (const end of ends) end.catch(() => undefined);
    let first: StepOutcome<T> | "news" | undefined;
    try {
      first = await Promise.race(ends);
      if (first !== "news") return first;
    } finally {
      scope.cancel();
      if (first !== "news") flow.attentions.close(attention);
    }
  }
}

function raise(flow: AnyFlow, step: Step, problem: Problem, attempts: Attempt[]): OpenAttention {
  // The account of an invalid input may be any text, and a search attribute is never encrypted. What is known stays: a worker that lacks
  // the account does not know its environment.
  if (problem.kind !== "InvalidInput" && flow.status.environment === "unknown")
    flow.status.identify(problem);
  const kind = attentionKindOf(problem);
  const traces =
    kind === "unknownOutcome" && step.journaled ? tracesOf(flow, step, problem, attempts) : {};
  return flow.attentions.open({ step, kind, reason: reasonOf(kind, problem, step.host), traces });
}

function tracesOf({ status }: AnyFlow, step: Step, { ownKey }: Problem, attempts: Attempt[]) {
  const sent = Object.entries({ ...status.references, ...step.lookFor?.(ownKey) });
  const lookFor = sent.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, plainText(value, MAX_SOUGHT_BYTES)]],
  );
  return {
    ...(lookFor.length > 0 && { lookFor: Object.fromEntries(lookFor) }),
    ...(attempts.length > 0 && { attempts }),
  };
}

async function news(flow: AnyFlow): Promise<"news"> {
  const count = () => flow.log.events.length + flow.log.surplusSignals;
  const before = count();
  await condition(() => count() > before);
  return "news";
}

async function outcomeOf<T>(
  flow: AnyFlow,
  summary: string,
  call: () => Promise<T>,
): Promise<StepOutcome<T>> {
  const ended = flow.status.showCall(summary);
  try {
    return { value: await call() };
  } catch (error) {
    return { problem: problemOf(error, flow) };
  } finally {
    ended();
  }
}

/** The problem that the activity reports. An error that is not a failed activity is a bug, or a cancellation. */
function problemOf(error: unknown, flow: AnyFlow): Problem {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
  const { environment, account } = flow.status;
  return (
    problemIn(error) ?? {
      kind: "unavailable",
      provider: "trustflow",
      operation: error.activityType,
      environment,
      account,
      fields: [],
    }
  );
}

/** The attention that a problem raises; the problems that end the process instead are thrown. */
function attentionKindOf(problem: Problem): Parameters<typeof reasonOf>[0] {
  const { kind, provider, operation, code, status, detail } = problem;
  const answered = status === undefined ? "was refused" : `answered ${status}`;
  const why = detail ?? `${operation} ${answered}, without saying why`;
  const fields = problem.fields.length > 0 ? problem.fields : [{ path: "(input)", problem: why }];
  if (kind === "withdrawn") throw new Withdrawn();
  if (kind === "unchanged") throw new NothingNew();
  if (kind === "invalidRequest") {
    const details: FailureDetails["NotAccepted"] = {
      provider,
      fields,
      ...(code === undefined ? {} : { code }),
    };
    throw ApplicationFailure.nonRetryable(
      `${provider} did not accept it: ${problemsInWords(fields)}`,
      "NotAccepted",
      details,
    );
  }
  if (kind === "InvalidInput") {
    throw ApplicationFailure.nonRetryable(`Invalid input: ${problemsInWords(fields)}`, kind, {
      fields,
    });
  }
  if (kind === "InputMismatch") {
    throw ApplicationFailure.nonRetryable("The same id was used with another input", kind, {
      problem: "this id already stands for another input",
    } satisfies FailureDetails["InputMismatch"]);
  }
  if (kind === "accessDenied" || kind === "unknownOutcome" || kind === "protocol") return kind;
  return "unavailable";
}
