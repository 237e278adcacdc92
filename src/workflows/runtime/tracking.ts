// Tracks a transaction until the provider's own answer shows its end. A callback or the poll timer triggers a query; only the
// answer to the query counts (docs/design.md §3, §7; P2 §6.4).
import { allHandlersFinished, CancellationScope, condition, sleep } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import type { askingSpans } from "../../contracts/shared/communication.js";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { repeatedEvery } from "./activity-options.js";
import { earlierOf, msUntil, now, secondsAfter, secondsFromNow, Timer } from "./clock.js";
import type { AnyFlow } from "./flow.js";
import { untilTimeIsUp } from "./steps.js";

export type TrackingSpans = Record<keyof typeof askingSpans, number> & {
  restingGraceSeconds?: number;
};

/**
 * `now`: one answer; `affidavits`: one answer with every affidavit that it lists; `change`: retried until the answer differs from
 * what is known; `end`: retried a few times until an end state shows, because the provider's query may lag behind its callback.
 */
export type AskWait = "now" | "affidavits" | "change" | "end";

export interface TrackingTarget {
  /** The provider, as the Web UI names it. */
  label: string;
  /** `waitingFor` in the status has it; default: news from the provider. */
  awaits?: string;
  spans: TrackingSpans;
  /** Default: the time of `spans`, from the beginning of the tracking. */
  deadline?: Date;
  /** Default: the newest snapshot is closed. A condition of its own may come true without an answer of the provider's. */
  isOver?(): boolean;
  /** The callbacks that trigger a query. */
  hintsAtEnd(event: ProviderEvent): boolean;
  /** Queries the provider and applies the answer; throws `NothingNew` if the time of `options` ends first. */
  ask(wait: AskWait, summary: string, options: ActivityOptions): Promise<void>;
}

/** Returns when the provider's tracking is over, or the process's own deadline has passed. Throws when the process is stopped. */
export async function trackUntilClosed(flow: AnyFlow, target: TrackingTarget): Promise<void> {
  const tracking = new Tracking(flow, target);
  const scope = new CancellationScope();
  const loops: Promise<void>[] = [];
  try {
    await scope.run(() => {
      loops.push(tracking.pollOnReportedEnd(), tracking.poll());
      // This condition waits neither for a query in progress nor for the time of the next one.
      if (target.isOver) loops.push(condition(target.isOver));
      const { stopping } = flow.lifecycle;
      const ended = stopping?.then(({ stop }) => Promise.reject(stop));
      return Promise.race(ended ? [...loops, ended] : loops);
    });
  } finally {
    scope.cancel();
    // The other loop must have ended: a command after the workflow's last one is refused.
    await Promise.allSettled(loops);
  }
  flow.status.waitFor(undefined);
}

/**
 * So many queries have an answer each, and the Web UI draws them as done: with its timer a poll is twelve events, and they are ten days of
 * the default interval. Later polls are retries of one activity, which add no event, but the Web UI draws each one as a failed attempt
 * (docs/design.md §7).
 */
const MAX_ANSWERED_QUERIES = 40;

/** The least time limit of a query, so that the query is made at least once. */
const MIN_QUESTION_MS = 10_000;

/**
 * The first wait has one timer, which ends with the deadline at the latest; later waits have the timers of deadline and grace beside their
 * own. `pastDeadline`: the first wait has ended with the deadline.
 */
type Stage = "firstWait" | "laterWait" | "pastDeadline";

class Tracking {
  readonly #flow: AnyFlow;
  readonly #target: TrackingTarget;
  readonly #deadline: Date;
  #stage: Stage = "firstWait";
  #deadlineTimer: Timer | undefined;
  /** While an end state has no `Closed`: the time at which it counts as the end. */
  #graceEnd: Date | undefined;
  #graceTimer: Timer | undefined;
  #lastAsked: Date;
  #asked = 0;

  constructor(flow: AnyFlow, target: TrackingTarget) {
    this.#flow = flow;
    this.#target = target;
    this.#deadline = target.deadline ?? secondsFromNow(target.spans.deadlineSeconds);
    this.#lastAsked = flow.log.lastEventAt;
  }

  /** Queries after a callback that hints at an end or at an affidavit to fetch (`hintsAtEnd`), at most once per interval. */
  async pollOnReportedEnd(): Promise<void> {
    const { label, spans } = this.#target;
    const summary = `Pause before the next query to ${label}`;
    let answered = 0;
    while (!this.#over()) {
      await condition(() => this.#over() || this.#hints() > answered);
      if (this.#over()) return;
      answered = this.#hints();
      if (this.#flow.log.isEndReported) this.#flow.status.asking();
      try {
        await this.#question("end", `Query ${label} for the end`, {
          retry: repeatedEvery(spans.askIntervalSeconds * 1_000, 2),
        });
      } finally {
        this.#flow.status.asked();
      }
      if (this.#over()) return;
      await sleep(spans.askIntervalSeconds * 1_000, { summary });
    }
  }

  /** Polls at regular times, even if every callback is lost (docs/design.md §7). */
  async poll(): Promise<void> {
    const { label, spans } = this.#target;
    while (!this.#over()) {
      const isLate = await this.#untilPoll();
      if (isLate) {
        do {
          // An update that is under way may end it: the query comes after its answer.
          await condition(allHandlersFinished);
          await this.#question("now", `Query ${label} a last time`, {});
        } while (!this.#over() && !allHandlersFinished());
        if (!this.#over() && this.#isTimeUp()) return this.#giveUp();
        continue;
      }
      const scheduleToCloseTimeout = Math.max(MIN_QUESTION_MS, msUntil(this.#limit));
      if (this.#asked < MAX_ANSWERED_QUERIES)
        await this.#question("now", `Query ${label}`, { scheduleToCloseTimeout });
      else
        await this.#question("change", `Query ${label} until something changes`, {
          scheduleToCloseTimeout,
          retry: repeatedEvery(spans.pollIntervalSeconds * 1_000),
        });
    }
  }

  /**
   * Returns false when the next poll is due, and true when the limit has come. No event cancels its timer or delays the poll:
   * anyone who knows the callback address could otherwise delay it until the deadline (docs/decisions/0020).
   */
  async #untilPoll(): Promise<boolean> {
    const { label, spans, awaits = `news from ${label}` } = this.#target;
    const poll = spans.pollIntervalSeconds;
    for (;;) {
      const { newsCount } = this.#flow.log;
      const asked = this.#asked;
      const isFirst = this.#stage === "firstWait";
      const quiet = secondsAfter(this.#lastAsked, poll);
      const wake = earlierOf(quiet, this.#limit);
      this.#flow.status.waitFor(awaits, this.#limit, wake);
      const summary = `Ask ${label} at ${wake.toISOString()}`;
      if (!isFirst) this.#startTimers();
      const timer = new Timer(isFirst ? wake : quiet, summary);
      await condition(() => timer.isOver || this.#isTimeUp());
      timer.cancel();
      this.#stage = "laterWait";
      if (this.#isTimeUp()) return true;
      // News in an answer delays the poll.
      if (newsCount !== this.#flow.log.newsCount && asked !== this.#asked) continue;
      if (!isFirst || spans.deadlineSeconds > poll) return false;
      this.#stage = "pastDeadline";
      return true;
    }
  }

  #startTimers(): void {
    const { label } = this.#target;
    this.#deadlineTimer ??= new Timer(this.#deadline, `Time of the last query to ${label}`);
    if (this.#graceEnd)
      this.#graceTimer ??= new Timer(this.#graceEnd, `Time limit for ${label} to close it`);
  }

  #isTimeUp(): boolean {
    const timers = [this.#deadlineTimer, this.#graceTimer];
    return this.#stage === "pastDeadline" || timers.some((timer) => timer?.isOver);
  }

  #giveUp(): void {
    if (!this.#flow.log.view.resting) this.#flow.status.ownOutcome = "openAtDeadline";
  }

  async #question(wait: AskWait, summary: string, options: ActivityOptions): Promise<void> {
    await untilTimeIsUp(() => this.#target.ask(wait, summary, options));
    this.#lastAsked = now();
    this.#asked += 1;
    if (this.#flow.log.view.resting) {
      this.#graceEnd ??= secondsFromNow(this.#target.spans.restingGraceSeconds ?? 0);
    } else {
      this.#graceEnd = undefined;
      this.#graceTimer?.cancel();
      this.#graceTimer = undefined;
    }
  }

  #hints(): number {
    const { events, endHints } = this.#flow.log;
    return events.filter(this.#target.hintsAtEnd).length + endHints;
  }

  #over(): boolean {
    return this.#target.isOver?.() ?? this.#flow.log.view.closed;
  }

  /** The deadline, or the time at which an end state without `Closed` counts as the end. */
  get #limit(): Date {
    return earlierOf(this.#deadline, this.#graceEnd);
  }
}
