// How a caller ends a wait: by a signal, or after a time.
import { setMaxListeners } from "node:events";
import type { CallContext, Connection, ConnectionLike } from "@temporalio/client";
import { TimedOutError, UnreachableError } from "../errors/index.js";
import type { InvalidInputError } from "../errors/index.js";
import { wrongArgument } from "../errors/arguments.js";
import { unknownMember } from "./arguments.js";

/** How long a call may take. */
export interface Waiting {
  /**
   * Its abort ends the call with its reason. What was sent is not taken back. The reason names no update id: give an update an `updateId`
   * of your own, to repeat it as the same update. Default: none.
   */
  signal?: AbortSignal | undefined;
  /** After so many milliseconds the call throws `TimedOutError`. `Infinity` is no limit. Default: `Infinity`. */
  timeoutMs?: number | undefined;
}

/** Makes a call within what is left of the wait. `on` is the connection that the call uses. */
export type Within = <T>(call: () => Promise<T>, on?: ConnectionLike) => Promise<T>;

/** The calls of a connection whose callers wait no more. */
const abandoned = new WeakMap<ConnectionLike, Set<Promise<unknown>>>();

/** Of each connection that is closed with its client: what ends its calls that have no limit of their own. */
const endings = new WeakMap<ConnectionLike, Set<AbortController>>();

/** How long after the time is over the SDK may still retry a call. */
const REST_MS = 1_000;
/** A timer of Node that is longer ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The wait begins now. `updateId` is that of the update which the call makes. */
export function beginWait(
  waiting: Waiting,
  connection?: ConnectionLike,
  updateId?: string,
): Within {
  const refused = wrongWait(waiting);
  if (refused) return () => Promise.reject(refused);
  const { signal, timeoutMs = Infinity } = waiting;
  if (!signal && timeoutMs === Infinity)
    return (call, on = connection) => (on ? untilClosed(on, call, updateId) : call());
  const deadline = Date.now() + timeoutMs;
  return async <T>(call: () => Promise<T>, on = connection) => {
    const timeout = new AbortController();
    const stop = alarm(deadline, () => timeout.abort());
    // What the Temporal client's own `withAbortSignal` and `withDeadline` have set goes on holding.
    const outer = contextOf(on);
    const signals = [signal, timeout.signal, outer.abortSignal].filter((one) => one !== undefined);
    const { end, aborted, release } = endOf(AbortSignal.any(signals));
    const latest = Math.min(deadline + REST_MS, Number(outer.deadline ?? Infinity));
    let answer: Promise<T> | undefined;
    try {
      end.throwIfAborted();
      answer = on ? called(on, end, latest, call) : call();
      return await Promise.race([answer, aborted]);
    } catch (error) {
      if (on && answer && end.aborted) abandon(on, answer);
      if (signal?.aborted) throw signal.reason;
      if (timeout.signal.aborted) throw new TimedOutError(timeoutMs, updateId);
      throw error;
    } finally {
      stop();
      release();
    }
  };
}

/** From now on the calls of this connection end when `closeWhenIdle` closes it. */
export function endWithConnection(connection: ConnectionLike): void {
  endings.set(connection, new Set());
}

async function untilClosed<T>(
  connection: ConnectionLike,
  call: () => Promise<T>,
  updateId: string | undefined,
): Promise<T> {
  const open = endings.get(connection);
  // It may be part of another call that ends it.
  if (!open || contextOf(connection).abortSignal) return call();
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const answer = connection.withAbortSignal(ending.signal, call);
  const closed = new Promise<never>((_, reject) => {
    ending.signal.addEventListener("abort", () => {
      abandon(connection, answer);
      const details = updateId === undefined ? {} : { updateId };
      reject(new UnreachableError("The client was closed during the call", details));
    });
  });
  open.add(ending);
  try {
    return await Promise.race([answer, closed]);
  } finally {
    open.delete(ending);
  }
}

/**
 * A signal of its own that ends with the given one until `release`. The SDK adds a listener to it for each request, and removes none; on a
 * combined signal Node would keep them, and all that they refer to, for good.
 */
function endOf(combined: AbortSignal) {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      ending.abort(combined.reason);
      reject(combined.reason as Error);
    };
  });
  if (combined.aborted) ending.abort(combined.reason);
  combined.addEventListener("abort", onAbort);
  const release = () => combined.removeEventListener("abort", onAbort);
  return { end: ending.signal, aborted, release };
}

/** JavaScript may give it in any shape. `others`: what may stand beside it. */
export function wrongWait(
  waiting: Waiting | null,
  others: string[] = [],
): InvalidInputError | undefined {
  if (typeof waiting !== "object" || waiting === null)
    return wrongArgument("options", "must be an object");
  const unknown = unknownMember(waiting, ["signal", "timeoutMs", ...others], "options");
  if (unknown) return unknown;
  const { signal, timeoutMs = Infinity } = waiting;
  if (signal && !(typeof signal === "object" && "aborted" in signal))
    return wrongArgument("signal", "must be an AbortSignal");
  if (!(timeoutMs >= 0))
    return wrongArgument("timeoutMs", "must be a number of milliseconds, 0 or more");
}

/** Rings at this time, however far away, if the process still runs then. Returns what stops it. */
function alarm(at: number, ring: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const arm = () => {
    const left = at - Date.now();
    if (left <= 0) return ring();
    timer = setTimeout(arm, Math.min(left, LONGEST_TIMER_MS)).unref();
  };
  arm();
  return () => clearTimeout(timer);
}

/** Each step of a generator, within what is left of the wait. `atEnd`: the generator itself is told only after its present step. */
export async function* stepsWithin<T>(
  within: Within,
  steps: AsyncGenerator<T>,
  atEnd: () => void = () => undefined,
): AsyncGenerator<T> {
  try {
    for (;;) {
      const { done, value } = await within(() => steps.next());
      if (done) return;
      yield value;
    }
  } finally {
    atEnd();
    void steps.return(undefined);
  }
}

/**
 * Ends the calls of the connection, and closes it once none is left: the SDK goes on retrying an ended call for a moment, and throws out of
 * a timer, which ends the process, where the connection is closed by then.
 */
export async function closeWhenIdle(
  connection: ConnectionLike,
  close: () => Promise<void>,
): Promise<void> {
  for (const ending of endings.get(connection) ?? []) ending.abort();
  const left = abandoned.get(connection);
  if (!left?.size) return close();
  // Nobody waits for this close, so nobody can be told that it failed.
  void Promise.allSettled(left)
    .then(close)
    .catch(() => undefined);
}

/** What the caller has set by the `withAbortSignal` and `withDeadline` of the Temporal client. */
export function contextOf(connection: ConnectionLike | undefined): CallContext {
  const { callContextStorage: context } = (connection ?? {}) as Partial<Connection>;
  return context?.getStore() ?? {};
}

function called<T>(
  connection: ConnectionLike,
  end: AbortSignal,
  deadline: number,
  call: () => Promise<T>,
): Promise<T> {
  const ending = () => connection.withAbortSignal(end, call);
  return Number.isFinite(deadline) ? connection.withDeadline(deadline, ending) : ending();
}

function abandon(connection: ConnectionLike, answer: Promise<unknown>): void {
  const left = abandoned.get(connection) ?? new Set();
  abandoned.set(connection, left.add(answer));
  const forget = () => void left.delete(answer);
  answer.then(forget, forget);
}
