// The header `Retry-After` of an answer, whoever gave it (RFC 9110 §10.2.3).

const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/** In milliseconds, at most a day: seconds, or an HTTP date, which is measured against the answer's own `Date`. */
export function retryAfterMs(
  headers: { "retry-after"?: string | undefined; date?: string | undefined },
  now: number = Date.now(),
): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS);
  const until = httpDate(value);
  if (until === undefined) return undefined;
  const since = httpDate(headers.date) ?? now;
  return Math.min(Math.max(until - since, 0), MAX_RETRY_AFTER_MS);
}

function httpDate(value: string | undefined): number | undefined {
  if (value === undefined || !/^[A-Za-z]{3,9},? .*\d{2}:\d{2}:\d{2}/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}
