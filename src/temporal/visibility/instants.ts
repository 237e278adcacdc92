// Instants and spans of Temporal's API.

interface Span {
  seconds?: unknown;
  nanos?: number | null | undefined;
}

export function msOf({ seconds, nanos }: Span): number {
  return Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1e6;
}
