// Sends one signal to one process with a time limit, maps Temporal's answer to what the relay does next, and leaves a namespace alone for
// a while that Temporal does not serve.
import { isGrpcServiceError, ServiceError } from "@temporalio/client";
import { NamespaceNotFoundError, WorkflowNotFoundError } from "@temporalio/common";
import { providerEvents, surplus } from "../../contracts/shared/messages.js";
import type { Surplus } from "../../contracts/shared/messages.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import type { ProcessKey } from "../../crypto/data-key.js";

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

export interface SignallerOptions {
  clientFor(namespace: string): SignalClient | Promise<SignalClient>;
  signalTimeoutMs?: number;
  logger?: { warn(message: string, details?: object): void; info?(message: string): void };
}

export function signalTimeoutOf({ signalTimeoutMs = 10_000 }: SignallerOptions): number {
  return signalTimeoutMs;
}

const SERVED_MS = 600_000;

export class Signaller {
  readonly #options: SignallerOptions;
  readonly #wakeSignal: WakeSignal;
  readonly #namespaces = new Namespaces();

  constructor(options: SignallerOptions, wakeSignal: WakeSignal) {
    this.#options = options;
    this.#wakeSignal = wakeSignal;
  }

  paused(): string[] {
    return this.#namespaces.paused();
  }

  /** Sends a process its events, or its number of surplus callbacks. */
  async send(
    { namespace, workflowId }: ProcessKey,
    argument: SignalArgument,
  ): Promise<SignalProblem | undefined> {
    if (this.paused().includes(namespace)) return "away";
    const startedAt = performance.now();
    let problem = await this.#attempt(namespace, workflowId, argument);
    // If one process does not answer, only that process waits. If no process answers, the server is unavailable.
    if (problem === "timeout" && !this.#namespaces.answeredSince(namespace, startedAt))
      problem = "away";
    if (problem === "away") this.#pause(namespace);
    else if (isAnswered(problem)) this.#namespaces.answered(namespace);
    return problem;
  }

  /** Whether Temporal has answered others lately: then what it does not answer is itself the reason. */
  servesOthers(namespace: string): boolean {
    return this.#namespaces.answeredSince(namespace, performance.now() - SERVED_MS);
  }

  #pause(namespace: string): void {
    const pauseMs = this.#namespaces.pause(namespace);
    if (pauseMs === undefined) return;
    this.#options.logger?.warn("Temporal is out of reach", { namespace });
    this.#wakeSignal.wakeIn(pauseMs);
  }

  async #attempt(
    namespace: string,
    workflowId: string,
    argument: SignalArgument,
  ): Promise<SignalProblem | undefined> {
    let client: SignalClient;
    try {
      client = await this.#options.clientFor(namespace);
    } catch {
      return "away";
    }
    const { name } = Array.isArray(argument) ? providerEvents : surplus;
    try {
      await client.withDeadline(Date.now() + signalTimeoutOf(this.#options), () =>
        client.getHandle(workflowId).signal(name, argument),
      );
      return undefined;
    } catch (error) {
      return problemOf(error);
    }
  }
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;

/** Namespaces that Temporal does not serve at the moment. Each is tried again after a growing pause with jitter. */
class Namespaces {
  readonly #pauses = new Map<string, { until: number; ms: number }>();
  readonly #answeredAt = new Map<string, number>();

  answered(namespace: string): void {
    this.#pauses.delete(namespace);
    this.#answeredAt.set(namespace, performance.now());
  }

  answeredSince(namespace: string, moment: number): boolean {
    return (this.#answeredAt.get(namespace) ?? -Infinity) >= moment;
  }

  /** The pause in milliseconds, if this failure begins one. */
  pause(namespace: string): number | undefined {
    const before = this.#pauses.get(namespace);
    if (before && before.until > performance.now()) return undefined;
    const ms = Math.min((before?.ms ?? FIRST_PAUSE_MS / 2) * 2, MAX_PAUSE_MS);
    const jittered = ms * (0.75 + Math.random() / 2);
    this.#pauses.set(namespace, { until: performance.now() + jittered, ms });
    return jittered;
  }

  paused(): string[] {
    const now = performance.now();
    return [...this.#pauses].filter(([, { until }]) => until > now).map(([namespace]) => namespace);
  }
}

// gRPC status codes.
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

function problemOf(error: unknown): SignalProblem {
  if (error instanceof NamespaceNotFoundError) return "away";
  if (error instanceof WorkflowNotFoundError) {
    if (/already completed/i.test(error.message)) return "late";
    // "Namespace x is not found."; else the text ends with the process's id, which may hold any word.
    return /^namespace /i.test(error.message) ? "away" : "unknownProcess";
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

/** Wakes the relay by a notification or a timer. Wakes without a waiter are kept as one. */
export class WakeSignal {
  readonly #timers = new Set<NodeJS.Timeout>();
  #isAwake = false;
  #resume: (() => void) | undefined;

  wake(): void {
    this.#isAwake = true;
    this.#resume?.();
  }

  wakeIn(ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.wake();
    }, ms);
    this.#timers.add(timer);
  }

  clear(): void {
    this.#isAwake = false;
  }

  async wait(ms: number): Promise<void> {
    if (!this.#isAwake) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#resume = undefined;
    }
    this.#isAwake = false;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.wake();
  }
}
