// The time limit of a call, as a signal.

/**
 * Aborts after `ms`, or with one of the others. A timer of its own holds it until `clear`: Node 20 may collect an `AbortSignal.timeout` that
 * is only a part of an `AbortSignal.any`, which then never aborts.
 */
export function timeLimit(ms: number, ...others: AbortSignal[]) {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException("its time is over", "TimeoutError"));
  const timer = setTimeout(end, Math.max(1, ms));
  return {
    signal: AbortSignal.any([...others, limit.signal]),
    clear: () => clearTimeout(timer),
  };
}
