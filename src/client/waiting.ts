// How a caller ends a wait: by a signal, or after a time.
import type { Connection, ConnectionLike } from "@temporalio/client";
import { TimedOutError } from "../errors/index.js";

export interface Waiting {
  /** Its abort ends the call with its reason. What was sent is not taken back. */
  signal?: AbortSignal | undefined;
  /** After so many milliseconds the call throws `TimedOutError`. */
  timeoutMs?: number | undefined;
}

/** Makes a call within what is left of the wait. */
export type Within = <T>(call: () => Promise<T>) => Promise<T>;

/** The wait begins now. */
export function beginWait({ signal, timeoutMs }: Waiting, connection?: ConnectionLike): Within {
  if (!signal && timeoutMs === undefined) return (call) => call();
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  return async (call) => {
    const { callContextStorage: context } = (connection ?? {}) as Partial<Connection>;
    // The Temporal client's own `withAbortSignal` goes on holding.
    const given = [signal, timeout, context?.getStore()?.abortSignal];
    const end = AbortSignal.any(given.filter((one) => one !== undefined));
    try {
      end.throwIfAborted();
      const answer = connection ? connection.withAbortSignal(end, call) : call();
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

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
