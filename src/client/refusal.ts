// What Temporal's refusal of a call means to the caller, whichever call it was.
import { NamespaceNotFoundError } from "@temporalio/client";
import {
  AccessDeniedError,
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

/** Any other error stays as it is. */
export function typedRefusal(error: unknown, namespace: string): unknown {
  if (error instanceof TrustflowError) return error;
  if (error instanceof NamespaceNotFoundError) return new NamespaceMissingError(namespace);
  const { code, details = "" } = grpcOf(error);
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
