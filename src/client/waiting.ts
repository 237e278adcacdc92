// How a caller ends a wait: by a signal, or after a time.
import type { CallContext, Connection, ConnectionLike } from "@temporalio/client";
import { TimedOutError } from "../errors/index.js";

export interface Waiting {
  /** Its abort ends the call with its reason. What was sent is not taken back. */
  signal?: AbortSignal | undefined;
  /** After so many milliseconds the call throws `TimedOutError`. */
  timeoutMs?: number | undefined;
}

/** Makes a call within what is left of the wait. */
export type Within = <T>(call: () => Promise<T>) => Promise<T>;

/** The calls of a connection whose callers wait no more. */
const abandoned = new WeakMap<ConnectionLike, Set<Promise<unknown>>>();

/** How long after the time is over the SDK may still retry a call. */
const REST_MS = 1_000;

/** The wait begins now. */
export function beginWait({ signal, timeoutMs }: Waiting, connection?: ConnectionLike): Within {
  if (!signal && timeoutMs === undefined) return (call) => call();
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const deadline = timeoutMs === undefined ? Infinity : Date.now() + timeoutMs + REST_MS;
  return async (call) => {
    // What the Temporal client's own `withAbortSignal` and `withDeadline` have set goes on holding.
    const outer = contextOf(connection);
    const signals = [signal, timeout, outer.abortSignal].filter((one) => one !== undefined);
    const end = AbortSignal.any(signals);
    const latest = Math.min(deadline, Number(outer.deadline ?? Infinity));
    try {
      end.throwIfAborted();
      const answer = connection ? called(connection, end, latest, call) : call();
      return await Promise.race([answer, aborted(end)]);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (timeout?.aborted) throw new TimedOutError(timeoutMs ?? 0);
      throw error;
    }
  };
}

/** Each step of a generator, within what is left of the wait. */
export async function* stepsWithin<T>(within: Within, steps: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    for (;;) {
      const { done, value } = await within(() => steps.next());
      if (done) return;
      yield value;
    }
  } finally {
    void steps.return(undefined);
  }
}

/**
 * Closes the connection once no call is left that its caller has abandoned: the SDK goes on retrying such a call, and throws out of a
 * timer, which ends the process, where the connection is closed by then.
 */
export async function closeWhenIdle(
  connection: ConnectionLike,
  close: () => Promise<void>,
): Promise<void> {
  const left = abandoned.get(connection);
  if (!left?.size) return close();
  void Promise.allSettled(left).then(close);
}

function contextOf(connection: ConnectionLike | undefined): CallContext {
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
  const answer = Number.isFinite(deadline) ? connection.withDeadline(deadline, ending) : ending();
  const left = abandoned.get(connection) ?? new Set();
  abandoned.set(connection, left.add(answer));
  const forget = () => void left.delete(answer);
  answer.then(forget, forget);
  return answer;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
