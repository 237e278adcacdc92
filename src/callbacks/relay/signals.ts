// Sends a signal and maps Temporal's answer to what the relay does next.
import { isGrpcServiceError, ServiceError } from "@temporalio/client";
import { NamespaceNotFoundError, WorkflowNotFoundError } from "@temporalio/common";
import type { Surplus } from "../../contracts/shared/messages.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";

export type SignalArgument = ProviderEvent[] | Surplus;

/** The part of a Temporal `WorkflowClient` that the relay needs. */
export interface SignalClient {
  getHandle(workflowId: string): { signal(name: string, argument: SignalArgument): Promise<void> };
  withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R>;
}

/**
 * late: the process has ended. unknownProcess: it does not exist. refused: Temporal will never accept this batch. failed: the
 * signal cannot be made, so it did not leave this process. timeout, busy: try this process later. away: the server or the
 * namespace is unreachable.
 */
export type SignalProblem =
  | "late"
  | "unknownProcess"
  | "refused"
  | "failed"
  | "timeout"
  | "busy"
  | "away";

/** Whether Temporal has said what becomes of the signal: it took it, or it never will. */
export function isAnswered(problem: SignalProblem | undefined): boolean {
  return problem === undefined || ["late", "unknownProcess", "refused"].includes(problem);
}

/** A literal, because contracts/shared/messages.ts imports the workflow library. */
export const signalName = "providerEvents";
export const surplusSignalName = "surplus";

// gRPC status codes.
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

export function problemOf(error: unknown): SignalProblem {
  if (error instanceof NamespaceNotFoundError) return "away";
  if (error instanceof WorkflowNotFoundError) {
    if (/already completed/i.test(error.message)) return "late";
    return /namespace/i.test(error.message) ? "away" : "unknownProcess";
  }
  const cause = error instanceof ServiceError ? error.cause : error;
  if (!isGrpcServiceError(cause)) return "failed";
  if (cause.code === INVALID_ARGUMENT) return "refused";
  if (cause.code === RESOURCE_EXHAUSTED)
    return /larger than max|too large/i.test(cause.details) ? "refused" : "busy";
  if (cause.code === DEADLINE_EXCEEDED) return "timeout";
  const unreachable = [UNAVAILABLE, UNAUTHENTICATED, PERMISSION_DENIED].includes(cause.code);
  return unreachable ? "away" : "busy";
}
