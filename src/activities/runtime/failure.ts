// The one place where an error becomes a Temporal failure. Its type is the problem's kind, its details are what an operator
// needs, and the kind decides who retries (docs/design.md §5).
import { activityInfo, ApplicationFailure, heartbeat } from "@temporalio/activity";
import { ApplicationFailureCategory, CancelledFailure } from "@temporalio/common";
import { causeIn, erasedProblem, ownCauseOf } from "../../contracts/shared/failures.js";
import type { FieldProblem, Problem } from "../../contracts/shared/failures.js";
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import {
  EffectAbsentOnce,
  EffectInFlight,
  EffectMismatch,
  EffectRefused,
  EffectUnknown,
  EffectWithdrawn,
  ErasedKeyError,
  JournalUnavailable,
  isUndecryptable,
} from "../../journal/errors.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { CircuitOpenError } from "./circuit-breaker.js";

/** Input that breaks the contract, found before any effect. */
export class InvalidInput extends Error {
  readonly fields: FieldProblem[];

  constructor(fields: FieldProblem[]) {
    super(`Invalid input: ${fields.map(({ path }) => path).join(", ")}`);
    this.fields = fields;
  }
}

/** The provider shows no change yet; the server's retry polls again. */
export class NotChangedYet extends Error {
  /** Members of the status as they were read: too little to wake the workflow, but a client may show them. */
  readonly members: object | undefined;

  constructor(members?: object) {
    super();
    this.members = members;
  }
}

/** Nothing is wrong: the next attempt goes on, when it is time for it, or at once, where there is more to do. */
export class GoesOnLater extends Error {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super();
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * `quick` fails to the workflow; `probe` is a person's retry, which calls even while others leave the provider alone; `send`
 * keeps trying; `watch` only looks whether the answer has become known.
 */
export type AttemptMode = "quick" | "probe" | "send" | "watch";

export interface FailureContext {
  provider: string;
  operation: string;
  environment: string;
  account: string;
  mode: AttemptMode;
  /** The patient phase waits so long between two tries, before jitter. */
  patienceMs: number;
  /** How long the quick phase continues while the provider is unavailable. */
  unavailableForMs: number;
  /** How long it continues while an id that the provider has given is not visible. */
  invisibleForMs: number;
}

/** The provider's clean refusal as the journal keeps it. `code`: its classifier, or the type of its problem document (P2 §7.2). */
export interface Refusal {
  code?: string;
  status?: number;
  requestId?: string;
  fields: FieldProblem[];
  detail?: string;
}

type Described = Omit<Partial<Problem>, "kind"> & {
  kind: Problem["kind"];
  retryAfterMs?: number;
  /** No quick retry, although the kind alone would have one. */
  final?: true;
  /** Only the journal waits: for an attempt that is under way, or for the time of the next look-up. */
  waits?: true;
  /** The journal waits because this attempt's own call got no answer. */
  unanswered?: boolean;
  /** An error of our own, which Temporal repeats as it is until it has lasted as long as an outage may. */
  isOurs?: true;
};

/** An attempt leaves it behind in its heartbeat. */
interface Heartbeat {
  /** For clients: where the call is made, before the process itself knows (`src/client/newest-read.ts`). */
  environment: string;
  account: string;
  /**
   * For the next attempt: for how long every attempt found the provider unavailable, with the pauses that they asked for. The time that an
   * attempt waited for a worker is no part of it.
   */
  awayMs?: number;
  /** For clients: the members of the status that were read last (`src/client/newest-read.ts`). */
  members?: object;
}

const HEARTBEAT_MS = 1_500;

/** When the provider last answered each operation in an attempt, by the info of the attempt (`performance.now()`). */
const answers = new WeakMap<object, Map<string, number>>();

/** The provider has answered a call of this attempt. A later call without an answer begins the time for which it is away. */
export function noteAnswered(operation: string): void {
  const info = activityInfo();
  answers.set(info, (answers.get(info) ?? new Map()).set(operation, performance.now()));
}

/** While an account's circuit is open, an answer to any of its operations counts. */
function lastAnswerOf(operation: string, error: unknown): number | undefined {
  const answered = answers.get(activityInfo());
  if (!answered) return undefined;
  return error instanceof CircuitOpenError
    ? Math.max(...answered.values())
    : answered.get(operation);
}

/** Runs an activity's body with a heartbeat, and turns what it throws into the failure that the workflow reads. */
export async function asActivity<T>(context: FailureContext, body: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const before = activityInfo().heartbeatDetails as Heartbeat | undefined;
  const { environment, account } = context;
  const place = { environment, account };
  const beat = setInterval(() => heartbeat({ ...before, ...place }), HEARTBEAT_MS);
  try {
    return await body();
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    const described = notInvisibleForLong(describe(error), context);
    const { operation = context.operation } = described;
    const answered = described.isOurs ? undefined : lastAnswerOf(operation, error);
    const awayMs = awayAfter(described, began, { answered, before: before?.awayMs });
    const failure =
      described.isOurs && mayRepeat(context, awayMs)
        ? ApplicationFailure.fromError(error, { nextRetryDelay: growingMs(awayMs) })
        : failureOf(described, context, awayMs);
    const members = (error instanceof NotChangedYet ? error.members : undefined) ?? before?.members;
    const pauseMs = Number(failure.nextRetryDelay ?? 0);
    const away = awayMs !== undefined && { awayMs: awayMs + pauseMs };
    heartbeat({ ...place, ...away, ...(members && { members }) });
    throw failure;
  } finally {
    clearInterval(beat);
  }
}

/** What stays invisible needs an operator (docs/design.md §5). */
function notInvisibleForLong(described: Described, { invisibleForMs }: FailureContext): Described {
  const isLong = Date.now() - activityInfo().scheduledTimestampMs >= invisibleForMs;
  return described.kind === "notVisibleYet" && isLong
    ? { ...described, kind: "protocol" }
    : described;
}

/** Whether nobody has to be told yet, or an attention has told it already. */
function mayRepeat({ mode, unavailableForMs }: FailureContext, awayMs = 0): boolean {
  return awayMs < unavailableForMs || patientKinds[mode].has("unavailable");
}

export function refusalOf(error: ProviderError): Refusal {
  const { type, code = type, status, requestId, detail } = error;
  return {
    fields: error.fields.map(({ fieldName = "", message, errorCode }) => ({
      path: callerPath(fieldName),
      problem: withoutName(message ?? "", fieldName) || (errorCode ?? "was refused"),
    })),
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(detail === undefined ? {} : { detail }),
  };
}

/** `RecipientAddress.Region` as the caller spells it. */
function callerPath(fieldName: string): string {
  return fieldName.replaceAll(
    /(^|\.)([A-Z])/g,
    (_, dot: string, letter: string) => dot + letter.toLowerCase(),
  );
}

/** A provider's message may begin with the field's name, which the problem already shows. */
function withoutName(message: string, fieldName: string): string {
  const names = [fieldName, fieldName.split(".").at(-1) ?? ""].filter(Boolean);
  const name = names.find((each) => message.toLowerCase().startsWith(each.toLowerCase()));
  const rest = name === undefined ? undefined : message.slice(name.length);
  return rest === undefined || /^\w/.test(rest) ? message : rest.replace(/^[\s:–-]+/, "");
}

function describe(error: unknown): Described {
  if (error instanceof InvalidInput) return { kind: "InvalidInput", fields: error.fields };
  if (error instanceof NotChangedYet) return { kind: "unchanged" };
  if (error instanceof GoesOnLater) return { kind: "unchanged", retryAfterMs: error.retryAfterMs };
  if (error instanceof ProviderError) {
    const { kind, provider, operation, retryAfterMs } = error;
    return {
      kind,
      provider,
      operation,
      ...metIn(error),
      ...refusalOf(error),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }
  if (error instanceof EffectRefused) {
    return { kind: "invalidRequest", ...(error.refusal as Refusal) };
  }
  if (error instanceof ErasedKeyError)
    return { kind: "InvalidInput", fields: [{ path: "id", problem: erasedProblem }] };
  if (error instanceof EffectMismatch) return { kind: "InputMismatch" };
  if (error instanceof EffectWithdrawn) return { kind: "withdrawn" };
  if (error instanceof EffectUnknown) {
    const { cause, lookUp, token: ownKey } = error;
    return { kind: "unknownOutcome", ...causeOf(cause), ownKey, ...(lookUp && { lookUp }) };
  }
  if (error instanceof EffectInFlight || error instanceof EffectAbsentOnce) {
    const { message, retryAfterMs, cause } = error;
    const unanswered = cause !== undefined;
    const met = unanswered ? causeOf(cause) : { problem: message };
    return { kind: "unavailable", ...met, retryAfterMs, waits: true, unanswered };
  }
  if (error instanceof JournalUnavailable) return { kind: "unavailable", problem: error.message };
  if (isUndecryptable(error)) {
    return { kind: "unavailable", provider: "trustflow", code: error.message, final: true };
  }
  const name = error instanceof Error ? error.name : "Error";
  return { kind: "unavailable", provider: "trustflow", problem: ownCauseOf(name), isOurs: true };
}

function causeOf(cause: unknown): Partial<Problem> {
  if (!(cause instanceof ProviderError)) return {};
  const { reference } = cause;
  return {
    ...refusalOf(cause),
    ...metIn(cause),
    ...(reference === undefined ? {} : { reference }),
  };
}

function metIn({ problem, host }: ProviderError): Pick<Problem, "problem" | "host"> {
  return { problem, ...(host === undefined ? {} : { host }) };
}

/** Kinds that waiting does not fix: the workflow decides at once. */
const decidedByWorkflow = new Set<Problem["kind"]>([
  "accessDenied",
  "unknownOutcome",
  "protocol",
  "invalidRequest",
  "InvalidInput",
  "InputMismatch",
  "withdrawn",
]);

/** These a patient phase keeps trying; every other failure goes back to the workflow. */
const patientKinds: Record<AttemptMode, ReadonlySet<Problem["kind"]>> = {
  quick: new Set(),
  probe: new Set(),
  send: new Set<ProblemKind>(["accessDenied", "unavailable", "rateLimited", "notVisibleYet"]),
  watch: new Set<ProblemKind>([
    "accessDenied",
    "unavailable",
    "rateLimited",
    "notVisibleYet",
    "unknownOutcome",
    "protocol",
  ]),
};

const MIN_QUICK_DELAY_MS = 1_000;
const MAX_QUICK_DELAY_MS = 120_000;
/** Temporal's own limit of a policy that names none. */
const MAX_GROWTH = 100;

/**
 * For how long the provider is away: since its last answer in this attempt, or for all the time of the attempts without one. An attempt that
 * only waited for the journal changes nothing. No machine's clock is asked, as the attempts of one activity may run on several.
 */
function awayAfter(
  described: Described,
  began: number,
  { answered, before }: Record<"answered" | "before", number | undefined>,
): number | undefined {
  const { kind, waits = false, unanswered = !waits } = described;
  const now = performance.now();
  if (!unanswered) return before === undefined ? undefined : before + now - began;
  if (kind !== "unavailable" && kind !== "rateLimited") return undefined;
  return answered === undefined ? (before ?? 0) + now - began : now - answered;
}

function failureOf(
  described: Described,
  context: FailureContext,
  awayMs: number | undefined,
): ApplicationFailure {
  const {
    retryAfterMs,
    final = false,
    waits: journalWaits,
    unanswered: _,
    isOurs: __,
    ...rest
  } = described;
  const { provider, operation, environment, account, mode, patienceMs, unavailableForMs } = context;
  const problem: Problem = { provider, operation, environment, account, fields: [], ...rest };
  const { kind } = problem;
  const patient = patientKinds[mode].has(kind);
  const waits = kind === "unchanged" || kind === "notVisibleYet";
  const leftMs = awayMs === undefined ? Infinity : unavailableForMs - awayMs;
  const isAskedToWait = retryAfterMs !== undefined && !journalWaits;
  // What the server repeats without end waits for a key too.
  const isFinal = final && unavailableForMs !== Infinity;
  const isLongAway = leftMs <= 0 || (isAskedToWait && retryAfterMs > leftMs);
  const delay = () => {
    if (kind === "unchanged") return retryAfterMs ?? repeatMs();
    if (patient && retryAfterMs === undefined) return jittered(patienceMs, 0.8);
    // A provider may ask for less than anyone should wait: for nothing, or for a date that is over.
    return Math.max(jittered(retryAfterMs ?? 0, 1), journalWaits ? 0 : growingMs(awayMs));
  };
  const delayMs = delay();
  // The last quick attempt is made when the time is over, not at the next step of the backoff.
  const quickDelayMs = Math.max(1, Math.min(delayMs, leftMs));
  const failure = ApplicationFailure.create({
    type: kind,
    message: messageOf(problem),
    details: [problem],
    nonRetryable: (isFinal || isLongAway || decidedByWorkflow.has(kind)) && !patient,
    nextRetryDelay: patient ? delayMs : quickDelayMs,
    ...(patient || waits ? { category: ApplicationFailureCategory.BENIGN } : {}),
  });
  // The Web UI shows the stack as the last failure of a wait that is none.
  if (kind === "unchanged") failure.stack = failure.message;
  return failure;
}

/** Not by the number of attempts: those of a poll that went well for days are no reason to wait for minutes. */
function growingMs(awayMs = 500 * 2 ** Math.min(activityInfo().attempt, 12)): number {
  return jittered(Math.min(Math.max(MIN_QUICK_DELAY_MS, awayMs), MAX_QUICK_DELAY_MS), 0.8);
}

/** When a call that found nothing new is made again: after the longest interval of its policy, which grows as the policy says. */
function repeatMs(): number {
  const { attempt, retryPolicy: { maximumInterval, backoffCoefficient = 2 } = {} } = activityInfo();
  const growth = Math.min(MAX_GROWTH, backoffCoefficient ** (attempt - 1));
  return Number(maximumInterval ?? MIN_QUICK_DELAY_MS) * growth;
}

/** The Web UI shows it at the activity that is made again; it has no text of the provider or of a caller. */
function messageOf(problem: Problem): string {
  const { provider, operation, host, kind } = problem;
  if (kind === "unchanged") return `No error: ${provider} ${operation} is made again later`;
  const at = host === undefined ? "" : ` at ${host}`;
  const cause = causeIn(problem);
  return `${provider} ${operation}${at}: ${kind}${cause === kind ? "" : `, ${cause}`}`;
}

/** Spread over 40 %, so that ten thousand waiting processes do not come back at once; from 1: never too early. */
function jittered(ms: number, from: number): number {
  return Math.max(1, Math.round(ms * (from + Math.random() * 0.4)));
}

/** The process that the running activity belongs to. */
export function execution(): { namespace: string; workflowId: string } {
  const { namespace, workflowExecution } = activityInfo();
  if (!workflowExecution) throw new Error("not started by a workflow");
  return { namespace, workflowId: workflowExecution.workflowId };
}
