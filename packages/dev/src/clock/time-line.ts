// The steps of a virtual clock, in a file that only grows: at which real time the clock was set to which virtual time. Between two
// steps it stands still. Every process of the system reads the file, so that each real time has one virtual time, today and in a replay.
import { appendFileSync, readFileSync, statSync } from "node:fs";

interface Step {
  real: number;
  virtual: number;
}

/** Kept although this process may have a shifted `Date` of its own. */
const realNow = Date.now.bind(Date);

export class TimeLine {
  readonly #file: string;
  #steps: Step[] = [];
  #size = -1;

  constructor(file: string) {
    this.#file = file;
  }

  /** The virtual time of a real one, both in milliseconds since the epoch. */
  at(real: number): number {
    this.#read();
    const step = this.#steps.findLast((each) => each.real <= real) ?? this.#steps[0];
    if (!step) throw new Error(`the virtual clock has no time yet: ${this.#file}`);
    return step.virtual;
  }

  now(): number {
    return this.at(realNow());
  }

  /** From this millisecond on it is `virtual`. */
  step(virtual: number): void {
    appendFileSync(this.#file, `${realNow()} ${virtual}\n`);
  }

  #read(): void {
    const { size } = statSync(this.#file);
    if (size === this.#size) return;
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(0, -1);
    this.#steps = lines.map((line) => {
      const [real = 0, virtual = 0] = line.split(" ").map(Number);
      return { real, virtual };
    });
    this.#size = size;
  }
}
