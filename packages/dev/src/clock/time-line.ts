// The steps of a virtual clock, in a file that only grows: the real time at which it was set to which virtual time. Between two steps it
// stands still. Every program of the system reads the file, so a real time has the same virtual time in each of them, and in each replay.
import { appendFileSync, readFileSync, statSync } from "node:fs";

interface Step {
  real: number;
  virtual: number;
}

/** The programs of the system may have a `Date` that is the clock's. */
const realNow = Date.now.bind(Date);

export class TimeLine {
  readonly file: string;
  #steps: Step[] = [];
  #size = 0;

  constructor(file: string) {
    this.file = file;
  }

  /** The virtual time of a real one, both in milliseconds since the epoch. */
  at(real: number): number {
    this.#read();
    const step = this.#steps.findLast((each) => each.real <= real) ?? this.#steps[0];
    if (!step) throw new Error(`${this.file} has no step of a virtual clock`);
    return step.virtual;
  }

  now(): number {
    return this.at(realNow());
  }

  step(virtual: number): void {
    appendFileSync(this.file, `${realNow()} ${virtual}\n`);
  }

  #read(): void {
    const { size } = statSync(this.file);
    if (size === this.#size) return;
    const lines = readFileSync(this.file, "utf8").split("\n").slice(0, -1);
    this.#steps = lines.map((line) => {
      const [real = 0, virtual = 0] = line.split(" ").map(Number);
      return { real, virtual };
    });
    this.#size = size;
  }
}
