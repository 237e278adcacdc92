// What Temporal's refusal of a call means to the caller, whichever call it was.
import { NamespaceNotFoundError } from "@temporalio/client";
import {
  AccessDeniedError,
  ClientClosedError,
  NamespaceMissingError,
  TemporalRefusedError,
  TrustflowError,
  UnreachableError,
} from "../errors/index.js";
import { grpcOf, status, statusName } from "../temporal/grpc-status.js";

/** True if Temporal itself is away. */
export function isUnavailable(error: unknown): boolean {
  return grpcOf(error).code === status.unavailable;
}

/** A message that will be no smaller later. */
export function isTooLarge(details: string): boolean {
  return details.includes("larger than max");
}

/** True if the call failed because its caller has aborted it: then the caller's reason says why. */
export function isOfAbort(error: unknown, signal: AbortSignal | undefined): signal is AbortSignal {
  if (!signal?.aborted) return false;
  return error === signal.reason || grpcOf(error).code === status.cancelled;
}

/** The gRPC library gives its error no code. */
function isOfClosedConnection(error: unknown): boolean {
  return (error as { cause?: Error }).cause?.message === "Channel has been shut down";
}

/** Any other error stays as it is. `signal` is that of the caller. */
export function typedRefusal(error: unknown, namespace: string, signal?: AbortSignal): unknown {
  if (isOfAbort(error, signal)) return signal.reason;
  // An abort without a reason of its own; its code is none of gRPC.
  if (error instanceof TrustflowError || error instanceof DOMException) return error;
  if (error instanceof NamespaceNotFoundError) return new NamespaceMissingError(namespace);
  const { code, details = "" } = grpcOf(error);
  if (isOfClosedConnection(error)) return new ClientClosedError();
  if (typeof code !== "number") return error;
  if (isTooLarge(details)) return new TemporalRefusedError(statusName(code), details);
  switch (code) {
    case status.unavailable:
    case status.deadlineExceeded:
    case status.resourceExhausted:
      return new UnreachableError(`Temporal cannot be reached: ${details}`);
    case status.permissionDenied:
    case status.unauthenticated:
      return new AccessDeniedError(details);
    default:
      return new TemporalRefusedError(statusName(code), details);
  }
}
