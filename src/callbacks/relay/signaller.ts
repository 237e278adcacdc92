// Sends one signal to one process with a time limit, and derives the state of the namespace from failures.
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { Namespaces } from "./pacing.js";
import type { WakeSignal } from "./pacing.js";
import { isAnswered, problemOf, signalName, surplusSignalName } from "./signals.js";
import type { SignalArgument, SignalClient, SignalProblem } from "./signals.js";

export interface SignallerOptions {
  clientFor(namespace: string): SignalClient | Promise<SignalClient>;
  signalTimeoutMs?: number;
  logger?: { warn(message: string, details?: object): void };
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

  send(
    namespace: string,
    workflowId: string,
    events: ProviderEvent[],
  ): Promise<SignalProblem | undefined> {
    return this.#send(namespace, workflowId, signalName, events);
  }

  /** Whether Temporal has answered others lately: then what it does not answer is itself the reason. */
  servesOthers(namespace: string): boolean {
    return this.#namespaces.answeredSince(namespace, performance.now() - SERVED_MS);
  }

  /** Notifies a process of its number of surplus callbacks. */
  sendSurplus(
    namespace: string,
    workflowId: string,
    count: number,
  ): Promise<SignalProblem | undefined> {
    return this.#send(namespace, workflowId, surplusSignalName, { count });
  }

  async #send(
    namespace: string,
    workflowId: string,
    name: string,
    argument: SignalArgument,
  ): Promise<SignalProblem | undefined> {
    if (this.paused().includes(namespace)) return "away";
    const startedAt = performance.now();
    let problem = await this.#attempt(namespace, workflowId, name, argument);
    // If one process does not answer, only that process waits. If no process answers, the server is unavailable.
    if (problem === "timeout" && !this.#namespaces.answeredSince(namespace, startedAt))
      problem = "away";
    if (problem === "away") this.#pause(namespace);
    else if (isAnswered(problem)) this.#namespaces.answered(namespace);
    return problem;
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
    name: string,
    argument: SignalArgument,
  ): Promise<SignalProblem | undefined> {
    let client: SignalClient;
    try {
      client = await this.#options.clientFor(namespace);
    } catch {
      return "away";
    }
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
