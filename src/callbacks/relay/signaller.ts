// One signal to one process, within its time, and what its failure says about the namespace as a whole.
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { Namespaces } from "./pacing.js";
import type { WakeSignal } from "./pacing.js";
import { problemOf, signalName, surplusSignalName } from "./signals.js";
import type { SignalArgument, SignalClient, SignalProblem } from "./signals.js";

export interface SignallerOptions {
  clientFor(namespace: string): SignalClient | Promise<SignalClient>;
  signalTimeoutMs?: number;
  logger?: { warn(message: string, details?: object): void };
}

export function signalTimeoutOf({ signalTimeoutMs = 10_000 }: SignallerOptions): number {
  return signalTimeoutMs;
}

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

  /** Tells a process that there are more callbacks than it is told of. */
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
    // One process that does not answer is its own matter; none that does is the server's.
    if (problem === "timeout" && !this.#namespaces.answeredSince(namespace, startedAt))
      problem = "away";
    if (problem === "away") this.#pause(namespace);
    else if (problem !== "timeout" && problem !== "busy") this.#namespaces.answered(namespace);
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
