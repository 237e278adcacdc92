// The status of gRPC behind an error of the SDK, which wraps some and not others.

export const status = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  /** Also a connection that broke, and a message that cannot be read. */
  internal: 13,
  /** Temporal itself is away. */
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

export function grpcOf(error: unknown): { code?: unknown; details?: string } {
  return (error instanceof Error ? error.cause : undefined) ?? error ?? {};
}

/** There is none, or none any more. A missing namespace is told the same way. */
export function isNotFound(error: unknown): boolean {
  return grpcOf(error).code === status.notFound;
}

/** For `catch`. */
export function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}

export function statusName(code: number): string {
  return Object.entries(status).find(([, known]) => known === code)?.[0] ?? String(code);
}
