// The world around a cluster: applications that start processes of all kinds, holders and signers, and an operator who decides by what
// the sandbox's ledger shows.
import { setTimeout as delay } from "node:timers/promises";
import { FinishedError, InvalidInputError, TimedOutError } from "../../src/client.js";
import type { ProcessHandle } from "../../src/client.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import { splitWorkflowId } from "../../src/contracts/shared/names.js";
import { isUnanswered } from "../harness/outages/wait.js";
import { resetToTheStart } from "../harness/stack/reset.js";
import type { TestStack } from "../harness/stack/stack.js";
import { processesUnderTest } from "../processes/index.js";
import type { ProcessUnderTest, Scene } from "../processes/process-under-test.js";
import { decisionOn } from "../simulation/operator.js";

const LOOK_MS = 1_000;
const OPERATOR_MS = 2_000;
/** As many applications at work as keep two cores busy. */
const OPEN = 60;

/** A start, a result or an answer may be refused while servers are away; nothing else may. */
const isPassing = (error: unknown) => isUnanswered(error) || error instanceof TimedOutError;

export class Load {
  /** Who ended otherwise than the provider says, and what the operator could not do. */
  readonly problems: string[] = [];
  /** By their kind, how often. */
  readonly decisions: Record<string, number> = {};
  /** Whether the operator resets what is stuck. */
  repairs = false;
  readonly repaired = new Set<string>();
  ended = 0;
  #numbers = 0;
  readonly #system: TestStack;
  /** Ended by a person's decision, as it may. */
  readonly #abandoned = new Set<string>();
  readonly #triedAgain = new Set<string>();
  #isOver = false;

  constructor(system: TestStack) {
    this.#system = system;
    void this.#operate();
  }

  /** Processes of all kinds in turn, until it is enough. */
  async run(isEnough: () => boolean): Promise<void> {
    const applications = Array.from({ length: OPEN }, () => this.#apply(isEnough));
    await Promise.all(applications);
  }

  /** So many times as many applications, while `work` lasts. */
  async crowd(times: number, work: () => Promise<unknown>): Promise<void> {
    let isOver = false;
    const others = Array.from({ length: OPEN * (times - 1) }, () => this.#apply(() => isOver));
    await work().finally(() => (isOver = true));
    await Promise.all(others);
  }

  async #apply(isEnough: () => boolean): Promise<void> {
    while (!isEnough()) {
      const number = (this.#numbers += 1);
      const underTest = processesUnderTest[number % processesUnderTest.length]!;
      await this.live(underTest, `day-${number}`);
    }
  }

  /** One process from its start to its end. */
  async live(underTest: ProcessUnderTest, id: string): Promise<void> {
    const { client, stack } = this.#system;
    const handle = await again(() => underTest.start(client, id));
    const scene = { sandboxUrl: stack.sandboxUrl, intent: id };
    const outcome = await again(async () => {
      try {
        const turn = underTest.play && (() => this.#play(underTest, handle, scene));
        return await outcomeOf(handle, turn);
      } catch (error) {
        if (isPassing(error)) throw error;
        return (error as Error).constructor.name;
      }
    });
    this.ended += 1;
    const isAllowed = outcome === "AbandonedError" && this.#abandoned.has(id);
    if (outcome !== underTest.outcome && !isAllowed)
      this.problems.push(`${handle.workflowId} ended as ${outcome}`);
  }

  /** A person who got no answer, or `unknown`, may do the same again. */
  async #play(
    underTest: ProcessUnderTest,
    handle: ProcessHandle<{ outcome: string }>,
    scene: Scene,
  ) {
    let answer: string | undefined = "unknown";
    try {
      answer = (await underTest.play?.(handle, scene))?.answer;
    } catch (error) {
      if (!(error instanceof FinishedError)) throw error;
    } finally {
      if (answer === "unknown")
        for (const operation of underTest.triedAgain ?? [])
          this.#triedAgain.add(`${scene.intent} ${operation}`);
    }
  }

  /** What the sandbox's ledger has against it, but for what a person has tried again. */
  async excess() {
    const { duplicates, violations } = await this.#system.sandbox.ledger();
    const isUnexplained = ({ intent, operation }: { intent: string; operation: string }) =>
      !this.#triedAgain.has(`${intent} ${operation}`);
    return [...duplicates.filter(isUnexplained), ...violations];
  }

  /** An operator looks at those that ask, as long as there is a load. */
  async #operate(): Promise<void> {
    for (; !this.#isOver; await delay(OPERATOR_MS)) {
      try {
        await this.#decideAll();
        if (this.repairs) await this.#repairAll();
      } catch (error) {
        if (!isPassing(error)) this.problems.push(`the operator: ${String(error)}`);
      }
    }
  }

  async #decideAll(): Promise<void> {
    const { client, sandbox } = this.#system;
    for await (const { workflowId } of client.list({ attention: true, state: "running" })) {
      const { process, id } = splitWorkflowId(workflowId)!;
      const intent = id.split(".")[0]!;
      const handle = client.handle(workflowId as `${ProcessName}/${string}`);
      const { attention } = await handle.status();
      if (!attention) continue;
      const { effects } = await sandbox.ledger(intent);
      const decision = decisionOn(attention, process as ProcessName, effects);
      const note = "looked at the provider's portal";
      try {
        await handle.resolve({ attention: attention.id, by: "operator", note, ...decision });
      } catch (error) {
        // It has ended, or an attempt still runs and is waited for.
        const isLate = error instanceof FinishedError || error instanceof InvalidInputError;
        if (!isPassing(error) && !isLate)
          this.problems.push(`${workflowId}: ${attention.kind}: ${String(error)}`);
        continue;
      }
      const name = `${attention.kind} of ${process}.${attention.step}: ${decision.decision}`;
      this.decisions[name] = (this.decisions[name] ?? 0) + 1;
      if (decision.decision === "abandon") this.#abandoned.add(intent);
    }
  }

  async #repairAll(): Promise<void> {
    const stuck = this.#system.client.list({ stuck: true, state: "running" });
    for await (const { workflowId } of stuck) {
      await resetToTheStart(this.#system, workflowId);
      this.repaired.add(workflowId);
    }
  }

  close(): void {
    this.#isOver = true;
  }
}

/** Of a process whose persons take their turn until it has ended. */
export async function outcomeOf(
  handle: ProcessHandle<{ outcome: string }>,
  turn?: () => Promise<unknown> | undefined,
): Promise<string> {
  for (;;) {
    await turn?.();
    const waiting = handle.result({ timeoutMs: turn && LOOK_MS });
    const result = await waiting.catch((error: unknown) => {
      if (!(error instanceof TimedOutError)) throw error;
    });
    if (result) return result.outcome;
  }
}

async function again<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await delay(LOOK_MS);
    }
  }
}
