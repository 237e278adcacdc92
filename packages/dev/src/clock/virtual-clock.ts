// The clock of a whole system: of its processes, and of the providers in its sandbox.
import { setTimeout as delay } from "node:timers/promises";
import type { SandboxControl } from "trustflow-sandbox";
import type { TimeLine } from "./time-line.js";
import type { Execution, Waits, WaitsReader } from "./waits.js";

export class VirtualClock {
  readonly #timeLine: TimeLine;
  readonly #sandbox: SandboxControl;
  readonly #reader: WaitsReader;
  readonly #inbox: () => Promise<number>;

  constructor(
    timeLine: TimeLine,
    sandbox: SandboxControl,
    reader: WaitsReader,
    inbox: () => Promise<number>,
  ) {
    this.#timeLine = timeLine;
    this.#sandbox = sandbox;
    this.#reader = reader;
    this.#inbox = inbox;
  }

  now(): Date {
    return new Date(this.#timeLine.now());
  }

  async advance(ms: number): Promise<void> {
    const end = this.#timeLine.now() + ms;
    for (;;) {
      const waits = await this.#settled();
      const { next } = await this.#sandbox.clock();
      const dues = waits.flatMap(([, { timers, retries }]) => [
        ...timers,
        ...retries.map(({ due }) => due),
      ]);
      if (next) dues.push(Date.parse(next));
      const due = Math.min(...dues);
      const to = Math.max(this.#timeLine.now(), Math.min(due, end));
      console.error(
        "step",
        new Date(to).toISOString(),
        dues.map((d) => new Date(d).toISOString()),
      );
      await this.#moveTo(to);
      if (due > end) return;
      for (const [execution, wait] of waits) await this.#reader.wake(execution, wait, to);
    }
  }

  async #moveTo(virtual: number): Promise<void> {
    this.#timeLine.step(virtual);
    await delay(2);
    const { now } = await this.#sandbox.clock();
    await this.#sandbox.advance(Math.max(0, virtual - Date.parse(now)));
  }

  async #settled(): Promise<[Execution, Waits][]> {
    let before = "";
    for (;;) {
      const { ran } = await this.#sandbox.advance(0);
      const inbox = await this.#inbox();
      const open = await this.#reader.open();
      const waits = await Promise.all(
        open.map(
          async (execution) => [execution, await this.#reader.of(execution)] as [Execution, Waits],
        ),
      );
      const seen = JSON.stringify(waits);
      const idle = ran === 0 && inbox === 0 && waits.every(([, { isBusy }]) => !isBusy);
      if (idle && seen === before) return waits;
      before = idle ? seen : "";
      await delay(5);
    }
  }
}
