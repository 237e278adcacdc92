// The only file in which workflow code reads the clock. The time that it reads is shown, stored, or sets the length of a
// timer. It decides nothing, but whether a start delay has a rest in the first task: only a fired timer or an activity shows that a time is
// over (docs/decisions/0015-time-in-workflows.md).
import { CancellationScope, sleep, workflowInfo } from "@temporalio/workflow";

export function now(): Date {
  return new Date();
}

export function dateOf(instant: string): Date {
  return new Date(instant);
}

export function secondsFromNow(seconds: number): Date {
  return new Date(Date.now() + seconds * 1_000);
}

export function secondsAfter(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1_000);
}

export function earlierOf(one: Date, other: Date | undefined): Date {
  return other && other < one ? other : one;
}

/** The length of a timer that fires at `end`. */
export function msUntil(end: Date): number {
  return Math.max(1, end.getTime() - Date.now());
}

/** A timer of the history; `isOver` once it has fired. It is cancelled with the scope that it was started in. */
export class Timer {
  isOver = false;
  readonly end: Date;
  readonly #scope = new CancellationScope();

  constructor(end: Date, summary: string) {
    this.end = end;
    const fired = this.#scope.run(() => sleep(msUntil(end), { summary }));
    fired.then(
      () => {
        this.isOver = true;
      },
      () => undefined,
    );
  }

  cancel(): void {
    this.#scope.cancel();
  }
}

/** An update gives a process its first workflow task before its start delay is over. Undefined once it is over. */
export function restOfStartDelay(): Timer | undefined {
  // Under this name the SDK has the delay of a process without a cron schedule.
  const { startTime, cronScheduleToScheduleInterval: delayMs } = workflowInfo();
  if (delayMs === undefined) return undefined;
  const end = secondsAfter(startTime, delayMs / 1_000);
  return end > now() ? new Timer(end, "Rest of the start delay") : undefined;
}
