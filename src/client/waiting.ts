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

/** Of each connection that is closed with its client: what ends its calls. */
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
  const deadline = Date.now() + timeoutMs;
  return async <T>(call: () => Promise<T>, on = connection) => {
    const open = on && endings.get(on);
    if (!open && !signal && timeoutMs === Infinity) return call();
    const [timeout, closing] = [new AbortController(), new AbortController()];
    open?.add(closing);
    const stop = alarm(deadline, () => timeout.abort());
    // What the Temporal client's own `withAbortSignal` and `withDeadline` have set goes on holding.
    const outer = contextOf(on);
    const signals = [signal, timeout.signal, closing.signal, outer.abortSignal];
    const { end, aborted, release } = endOf(
      AbortSignal.any(signals.filter((one) => one !== undefined)),
    );
    const latest = Math.min(deadline + REST_MS, Number(outer.deadline ?? Infinity));
    try {
      end.throwIfAborted();
      return await Promise.race([on ? called(on, end, latest, call) : call(), aborted]);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (timeout.signal.aborted) throw new TimedOutError(timeoutMs, updateId);
      if (closing.signal.aborted)
        throw new UnreachableError(
          "The client was closed during the call",
          updateId === undefined ? {} : { updateId },
        );
      throw error;
    } finally {
      open?.delete(closing);
      stop();
      release();
    }
  };
}

/** From now on the calls of this connection end with `endCalls`. */
export function endWithConnection(connection: ConnectionLike): void {
  endings.set(connection, new Set());
}

/** To be done before the connection is closed. */
export function endCalls(connection: ConnectionLike): void {
  for (const closing of endings.get(connection) ?? []) closing.abort();
}

/** Makes a request, or some, of a wait that makes many: the SDK keeps each of them for as long as the signal under which it was made. */
export async function inOwnScope<T>(
  connection: ConnectionLike | undefined,
  call: () => Promise<T>,
): Promise<T> {
  const { abortSignal } = contextOf(connection);
  if (!connection || !abortSignal) return call();
  const { end, aborted, release } = endOf(abortSignal);
  try {
    end.throwIfAborted();
    return await Promise.race([connection.withAbortSignal(end, call), aborted]);
  } finally {
    release();
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
  others: readonly string[] = [],
): InvalidInputError | undefined {
  if (typeof waiting !== "object" || waiting === null)
    return wrongArgument("options", "must be an object");
  const unknown = unknownMember(waiting, ["signal", "timeoutMs", ...others], "options");
  if (unknown) return unknown;
  const { signal, timeoutMs = Infinity } = waiting;
  if (signal && !(typeof signal === "object" && "aborted" in signal))
    return wrongArgument("signal", "must be an AbortSignal");
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0))
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
