// A step: quick, then attention, then patient, raced with a person's decision (docs/design.md §6). The shared piece of all
// processes; retries by the server add nothing to the history.
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  patched,
} from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { FailureDetails, Problem } from "../../contracts/shared/failures.js";
import { activitiesOf, patientOptions, quickOptions } from "./activity-options.js";
import { reasonOf } from "./attention.js";
import type { Decided, OpenAttention, Wanted } from "./attention.js";
import { problemIn } from "./problem.js";
import { Withdrawn } from "./lifecycle.js";
import type { AnyFlow } from "./flow.js";

/**
 * `quick` fails to the workflow; `probe` is a person's retry, which asks even while others leave the provider alone; `send`
 * keeps trying; `watch` only looks whether the answer has become known.
 */
export type AttemptMode = "quick" | "probe" | "send" | "watch";

export interface Attempt {
  /** The occurrence is `0`, or what a decision has opened; for an update's own effect the update's id. */
  effect: { step: string; occurrence: string };
  mode: AttemptMode;
}

export interface Step {
  name: string;
  /** In business words, for the Web UI. */
  summary: string;
  /** Where it is done, where a provider has several hosts: for the person who is asked. */
  host?: string;
  /** Whether it has an effect, and so a row in the journal. */
  journaled: boolean;
  /** What a person must tell with `happened`; empty where the step can be waived, absent where neither. */
  happened?: Wanted;
  /** Default `0`; another one where the step is made again with something new. */
  occurrence?: string;
  quick?: ActivityOptions;
}

/** What an update's own call has left open: the step begins as a question to a person. */
export interface LeftOpen {
  occurrence: string;
  problem: Problem;
}

/** A person decided to go on without the step. */
class Waived extends Error {}

/** Whether a person decided to go on without what `work` was to bring. */
export async function isWaived(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof Waived) return true;
    throw error;
  }
}

/** The time for a question ran out before anything had changed. */
export class NotChangedYet extends Error {}

type Tried<T> = { value: T } | { problem: Problem } | { decided: Decided } | { stop: Error };

/** The steps of a process at one provider. */
export function stepsOf<A>(flow: AnyFlow, provider: string) {
  return async <T>(
    step: Step,
    call: (activities: A, attempt: Attempt) => Promise<T>,
    leftOpen?: LeftOpen,
  ): Promise<T> => {
    let occurrence = leftOpen?.occurrence ?? step.occurrence ?? "0";
    let attention = leftOpen && raise(flow, step, leftOpen.problem);
    let asked = false;
    for (;;) {
      const mode: AttemptMode = attention ? patientMode(attention) : asked ? "probe" : "quick";
      const options = attention ? patientOptions : { ...quickOptions, ...step.quick };
      const summary = attention
        ? `${step.summary} (${attention.kind}: ${attention.sends ? "keeps trying" : "watches for an answer"})`
        : step.summary;
      const activities = activitiesOf<A>(provider, { ...options, summary }) as A;
      const first: Tried<T> = await firstOf(flow, attention, () =>
        call(activities, { effect: { step: step.name, occurrence }, mode }),
      );
      attention = undefined;

      if ("stop" in first) throw first.stop;
      if ("value" in first) return first.value;
      if ("problem" in first) {
        attention = raise(flow, step, first.problem);
      } else if (first.decided.decision === "abandon") {
        throw flow.lifecycle.abandoned(step.name, first.decided);
      } else if (first.decided.decision === "happened" && !step.journaled) {
        throw new Waived();
      } else {
        occurrence = first.decided.occurrence ?? occurrence;
        asked = first.decided.decision === "retry";
      }
    }
  };
}

function raise(flow: AnyFlow, step: Step, problem: Problem): OpenAttention {
  // What an invalid input names as its account may be anything, and a search attribute is never encrypted.
  if (problem.kind !== "InvalidInput") flow.status.identify(problem);
  const kind = attentionKindOf(problem);
  return flow.attentions.open({ step, kind, reason: reasonOf(kind, problem, step.host) });
}

function patientMode({ sends }: OpenAttention): AttemptMode {
  return sends ? "send" : "watch";
}

/** How often a callback makes a patient phase look at once; each time is a few events of the history. */
const mostLooks = 50;

/**
 * The first of: the activity's answer or failure, a person's decision, the end of the whole process. Each callback meanwhile
 * makes a patient phase look at once: what it is about may be known by now (docs/design.md §6).
 */
async function firstOf<T>(
  flow: AnyFlow,
  attention: OpenAttention | undefined,
  call: () => Promise<T>,
): Promise<Tried<T>> {
  const others: Promise<Tried<T>>[] = [];
  if (flow.lifecycle.stopping) others.push(flow.lifecycle.stopping);
  if (attention) others.push(attention.decided.then((decision) => ({ decided: decision })));
  // The usual case costs no more than the call: the SDK keeps a stack for each promise.
  if (others.length === 0) return tried(flow, call);

  for (let looks = 1; ; looks += 1) {
    const scope = new CancellationScope();
    const answer = scope.run(() => tried(flow, call));
    const ways: Promise<Tried<T> | "heard">[] = [answer, ...others];
    if (attention && looks < mostLooks && patched("attention-hears"))
      ways.push(scope.run(() => hears(flow)));
    for (const way of ways) way.catch(() => undefined);
    let first: Tried<T> | "heard" | undefined;
    try {
      first = await Promise.race(ways);
      if (first !== "heard") return first;
    } finally {
      scope.cancel();
      if (attention && first !== "heard") flow.attentions.close(attention);
    }
  }
}

async function hears(flow: AnyFlow): Promise<"heard"> {
  const heard = () => flow.log.events.length + flow.log.surplusSignals;
  const before = heard();
  await condition(() => heard() > before);
  return "heard";
}

async function tried<T>(flow: AnyFlow, call: () => Promise<T>): Promise<Tried<T>> {
  try {
    return { value: await call() };
  } catch (error) {
    return { problem: problemOf(error, flow) };
  }
}

/** What the activity says went wrong; an error that is not a failed activity is a bug, or a cancellation. */
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
  const { kind, provider, code, detail } = problem;
  const told = detail === undefined ? [] : [{ path: "(input)", problem: detail }];
  const fields = problem.fields.length > 0 ? problem.fields : told;
  if (kind === "withdrawn") throw new Withdrawn();
  if (kind === "unchanged") throw new NotChangedYet();
  if (kind === "invalidRequest") {
    const details: FailureDetails["NotAccepted"] = {
      provider,
      fields,
      ...(code === undefined ? {} : { code }),
    };
    throw ApplicationFailure.nonRetryable(
      `${provider} did not accept it: ${describe(fields)}`,
      "NotAccepted",
      details,
    );
  }
  if (kind === "InvalidInput") {
    throw ApplicationFailure.nonRetryable(`Invalid input: ${describe(fields)}`, kind, { fields });
  }
  if (kind === "InputMismatch") {
    throw ApplicationFailure.nonRetryable("The same id was used with another input", kind, {
      problem: "this id already stands for another input",
    } satisfies FailureDetails["InputMismatch"]);
  }
  if (kind === "accessDenied" || kind === "unknownOutcome" || kind === "protocol") return kind;
  return "unavailable";
}

function describe(fields: Problem["fields"]): string {
  return fields.map(({ path, problem }) => `${path} ${problem}`).join("; ");
}
