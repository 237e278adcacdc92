// Following a transaction until the provider's own answer says that it is over: callbacks make the process ask,
// the time of a poll does in any case, and only the answer counts (docs/design.md §3, §7; P2 §6.4).
import { CancellationScope, condition, patched, sleep } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import { endStates } from "../../contracts/shared/names.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import {
  earlierOf,
  isOver,
  msUntil,
  now,
  secondsAfter,
  secondsFromNow,
  Timer,
  timersDecide,
} from "./clock.js";
import type { AnyProcess } from "./process.js";
import { isWaived, Unchanged } from "./steps.js";

export interface Spans {
  deadlineSeconds: number;
  pollIntervalSeconds: number;
  askIntervalSeconds: number;
  restingGraceSeconds?: number;
}

/**
 * `now`: one answer; `affidavits`: with every affidavit that it lists; `change`: retried until it differs from what is
 * known; `end`: retried a few times until an end state shows, because the provider's query may lag behind its callback.
 */
export type AskWait = "now" | "affidavits" | "change" | "end";

export interface Followed {
  /** The provider, as the Web UI names it. */
  label: string;
  /** What the status says it waits for; default: news from the provider. */
  awaits?: string;
  spans: Spans;
  /** Default: the newest snapshot is closed; another one may come true without an answer of the provider's. */
  isOver?(): boolean;
  /** Which callbacks make it ask; default: those that claim an end, or answer a request for an affidavit. */
  claims?(event: ProviderEvent): boolean;
  /** Asks the provider and hands the answer to the process; throws `Unchanged` where `options` ran out first. */
  ask(wait: AskWait, summary: string, options: ActivityOptions): Promise<void>;
}

/**
 * Returns when the provider's tracking is over, or the process's own deadline has passed. Throws where the process is to end
 * meanwhile.
 */
export async function follow(process: AnyProcess, followed: Followed): Promise<void> {
  const tracking = new Tracking(process, followed);
  const scope = new CancellationScope();
  const ways: Promise<void>[] = [];
  try {
    await scope.run(() => {
      ways.push(tracking.heedClaims(), tracking.poll());
      // It does not wait for a question that is on its way, nor for the time of the next one.
      if (followed.isOver) ways.push(condition(followed.isOver));
      const { stopping } = process;
      const ended = stopping?.then(({ stop }) => Promise.reject(stop));
      return Promise.race(ended ? [...ways, ended] : ways);
    });
  } finally {
    scope.cancel();
    // Nothing of the other way may be left over: a command after the workflow's last one is refused.
    await Promise.allSettled(ways);
  }
}

/** After the close: fetches affidavits as they are announced, and once more when the window ends (P2 §3.1). */
export async function collectAffidavits(
  process: AnyProcess,
  { label, spans, ask }: Followed,
  windowSeconds: number,
): Promise<void> {
  if (windowSeconds === 0) return;
  const window = new Timer(secondsFromNow(windowSeconds), "Late affidavits are still collected");
  process.waitFor("late affidavits", window.end);
  for (let fetched = announced(process); !window.isOver; fetched = announced(process)) {
    await condition(() => window.isOver || announced(process) > fetched);
    if (window.isOver) break;
    await ask("now", `Fetch an announced affidavit from ${label}`, {});
    const pause = new Timer(secondsFromNow(spans.askIntervalSeconds), `Then ask ${label} again`);
    await condition(() => window.isOver || pause.isOver);
  }
  await isWaived(() => ask("affidavits", `Fetch the last affidavits from ${label}`, {}));
}

function announced(process: AnyProcess): number {
  return process.events.filter(({ affidavit }) => affidavit).length;
}

function claimsAnEnd({ kind, affidavit }: ProviderEvent): boolean {
  return endStates.has(kind) || affidavit?.requestId !== undefined;
}

/** A question's time is at least this long, so that it is asked once in any case. */
const shortestQuestionMs = 10_000;

class Tracking {
  readonly #process: AnyProcess;
  readonly #followed: Followed;
  readonly #deadline: Date;
  /** From the second wait on; the first one ends with the deadline at the latest. */
  #deadlineTimer: Timer | undefined;
  /** While an end state stands without `Closed`: when it counts as the end. */
  #graceEnd: Date | undefined;
  #graceTimer: Timer | undefined;
  #hasWaited = false;
  #isPastDeadline = false;
  #lastAsked: Date;
  #asked = 0;

  constructor(process: AnyProcess, followed: Followed) {
    this.#process = process;
    this.#followed = followed;
    this.#deadline = secondsFromNow(followed.spans.deadlineSeconds);
    this.#lastAsked = process.lastHeard;
  }

  /** Asks whenever a callback claims an end or answers a request for an affidavit, at most once an interval. */
  async heedClaims(): Promise<void> {
    const { label, spans } = this.#followed;
    const summary = `Then ask ${label} again`;
    let heeded = 0;
    /** In the history of an older release: before then it is not asked again. */
    let next: Date | undefined;
    while (!this.#over()) {
      await condition(() => this.#over() || this.#claims() > heeded);
      if (this.#over()) return;
      if (next && !isOver(next)) await sleep(msUntil(next), { summary });
      heeded = this.#claims();
      await this.#question("end", `Ask ${label} whether it is over`, {
        retry: { initialInterval: spans.askIntervalSeconds * 1_000, backoffCoefficient: 2 },
      });
      if (this.#over()) return;
      next = secondsFromNow(spans.askIntervalSeconds);
      if (!timersDecide()) continue;
      await sleep(msUntil(next), { summary });
      next = undefined;
    }
  }

  /** The durable poll: whatever happens to callbacks, the provider is asked (docs/design.md §7). */
  async poll(): Promise<void> {
    const { label, spans } = this.#followed;
    while (!this.#over()) {
      const isLate = await this.#untilPoll();
      if (isLate) {
        await this.#question("now", `Ask ${label} a last time`, {});
        if (!this.#over() && (this.#isTimeUp() || isOver(this.#limit))) return this.#giveUp();
      } else {
        await this.#question("change", `Ask ${label} until something has changed`, {
          scheduleToCloseTimeout: Math.max(shortestQuestionMs, msUntil(this.#limit)),
          retry: { initialInterval: spans.pollIntervalSeconds * 1_000, backoffCoefficient: 1 },
        });
      }
    }
  }

  /**
   * Returns when the time of a poll is over since the last question (false), or the limit has come (true). No event cancels its
   * timer or puts the poll off: whoever has the callback address could put it off until the deadline (docs/decisions/0020).
   */
  async #untilPoll(): Promise<boolean> {
    const { label, spans, awaits = `news from ${label}` } = this.#followed;
    const poll = spans.pollIntervalSeconds;
    for (;;) {
      const { timesHeard, lastHeard } = this.#process;
      const asked = this.#asked;
      const isFirst = !this.#hasWaited;
      const isByClock = !isFirst && !timersDecide();
      const since = isByClock ? lastHeard : this.#lastAsked;
      const quiet = secondsAfter(since, poll);
      const wake = earlierOf(quiet, this.#limit);
      this.#process.waitFor(awaits, wake);
      const summary = `Ask ${label} at ${wake.toISOString()}`;
      if (isByClock) {
        if (isOver(wake)) return isOver(this.#limit);
        await sleep(msUntil(wake), { summary });
        continue;
      }
      if (!isFirst) this.#startTimers();
      const timer = new Timer(isFirst ? wake : quiet, summary);
      await condition(() => timer.isOver || this.#isTimeUp());
      timer.cancel();
      this.#hasWaited = true;
      if (this.#isTimeUp()) return true;
      // In the history of an older release whatever was heard meanwhile put the poll off, now an answer alone does.
      const isHeard = timesHeard !== this.#process.timesHeard;
      if (isHeard && (asked !== this.#asked || !patched("poll-in-any-case"))) continue;
      this.#isPastDeadline = isFirst && spans.deadlineSeconds <= poll;
      return this.#isPastDeadline;
    }
  }

  #startTimers(): void {
    const { label } = this.#followed;
    this.#deadlineTimer ??= new Timer(this.#deadline, `The last time to ask ${label}`);
    if (this.#graceEnd)
      this.#graceTimer ??= new Timer(this.#graceEnd, `${label} may still close it until then`);
  }

  #isTimeUp(): boolean {
    const timers = [this.#deadlineTimer, this.#graceTimer];
    return this.#isPastDeadline || timers.some((timer) => timer?.isOver);
  }

  #giveUp(): void {
    if (!this.#process.view.resting) this.#process.ownOutcome = "openAtDeadline";
  }

  async #question(wait: AskWait, summary: string, options: ActivityOptions): Promise<void> {
    try {
      await this.#followed.ask(wait, summary, options);
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
    }
    this.#lastAsked = now();
    this.#asked += 1;
    if (this.#process.view.resting) {
      this.#graceEnd ??= secondsFromNow(this.#followed.spans.restingGraceSeconds ?? 0);
    } else {
      this.#graceEnd = undefined;
      this.#graceTimer?.cancel();
      this.#graceTimer = undefined;
    }
  }

  #claims(): number {
    const { events, ownClaims } = this.#process;
    return events.filter(this.#followed.claims ?? claimsAnEnd).length + ownClaims;
  }

  #over(): boolean {
    return this.#followed.isOver?.() ?? this.#process.view.closed;
  }

  /** The deadline, or the end of the time that an end state may stand without `Closed`. */
  get #limit(): Date {
    return earlierOf(this.#deadline, this.#graceEnd);
  }
}
