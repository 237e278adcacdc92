// Following a transaction until the provider's own answer says that it is over: callbacks make the process ask,
// silence makes it ask, and only the answer counts (DESIGN §3, §7; P2 §6.4).
import { CancellationScope, condition, sleep } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";
import { endStates } from "../contracts/names.js";
import type { ProviderEvent } from "../contracts/provider-event.js";
import type { AnyProcess } from "./process.js";
import { isWaived, Unchanged } from "./steps.js";

export interface Spans {
  deadlineSeconds: number;
  pollIntervalSeconds: number;
  askIntervalSeconds: number;
  restingGraceSeconds?: number;
}

/**
 * `now`: one answer; `affidavits`: with every affidavit that it lists; `change`: retried until it differs from what is known; `end`: retried a few times until an end
 * state shows, because the provider's query may lag behind its callback.
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
      ways.push(tracking.heedClaims(), tracking.watchSilence());
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
  const end = Date.now() + windowSeconds * 1_000;
  if (end === Date.now()) return;
  let open = true;
  const windowEnd = sleep(end - Date.now(), { summary: "Late affidavits are still collected" });
  const closed = windowEnd.then(() => {
    open = false;
  });
  process.waitFor("late affidavits", new Date(end));
  for (let fetched = announced(process); open; fetched = announced(process)) {
    await condition(() => !open || announced(process) > fetched);
    if (!open) break;
    await ask("now", `Fetch an announced affidavit from ${label}`, {});
    await Promise.race([closed, sleep(spans.askIntervalSeconds * 1_000)]);
  }
  await isWaived(() => ask("affidavits", `Fetch the last affidavits from ${label}`, {}));
}

function announced(process: AnyProcess): number {
  return process.events.filter(({ affidavit }) => affidavit).length;
}

function claimsAnEnd({ kind, affidavit }: ProviderEvent): boolean {
  return endStates.has(kind) || affidavit?.requestId !== undefined;
}

class Tracking {
  readonly #process: AnyProcess;
  readonly #followed: Followed;
  readonly #deadline: number;
  #restingSince: number | undefined;

  constructor(process: AnyProcess, followed: Followed) {
    this.#process = process;
    this.#followed = followed;
    this.#deadline = Date.now() + followed.spans.deadlineSeconds * 1_000;
  }

  /** Asks whenever a callback claims an end or answers a request for an affidavit, at most once an interval. */
  async heedClaims(): Promise<void> {
    const interval = this.#followed.spans.askIntervalSeconds * 1_000;
    let heeded = 0;
    for (let next = 0; !this.#over(); next = Date.now() + interval) {
      await condition(() => this.#over() || this.#claims() > heeded);
      if (this.#over()) return;
      if (next > Date.now()) {
        await sleep(next - Date.now(), { summary: `Then ask ${this.#followed.label} again` });
      }
      heeded = this.#claims();
      await this.#question("end", `Ask ${this.#followed.label} whether it is over`, {
        retry: { initialInterval: interval, backoffCoefficient: 2 },
      });
    }
  }

  /** The durable poll: whatever happens to callbacks, the provider is asked (DESIGN §7). */
  async watchSilence(): Promise<void> {
    const { label } = this.#followed;
    const poll = this.#followed.spans.pollIntervalSeconds * 1_000;
    while (!this.#over()) {
      await this.#silence(poll);
      const left = this.#limit() - Date.now();
      if (left > 0) {
        await this.#question("change", `Ask ${label} until something has changed`, {
          scheduleToCloseTimeout: left,
          retry: { initialInterval: poll, backoffCoefficient: 1 },
        });
      } else {
        await this.#question("now", `Ask ${label} a last time`, {});
        if (!this.#over() && this.#limit() <= Date.now()) return this.#giveUp();
      }
    }
  }

  /** One timer that no event cancels: on firing it re-arms for the remainder. */
  async #silence(poll: number): Promise<void> {
    const { label, awaits = `news from ${label}` } = this.#followed;
    for (;;) {
      const end = Math.min(this.#process.lastHeard.getTime() + poll, this.#limit());
      const wake = new Date(end);
      this.#process.waitFor(awaits, wake);
      if (end <= Date.now()) return;
      await sleep(end - Date.now(), {
        summary: `Ask ${label} if nothing is heard until ${wake.toISOString()}`,
      });
    }
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
    if (this.#process.view.resting) this.#restingSince ??= Date.now();
    else this.#restingSince = undefined;
  }

  #claims(): number {
    const { events, ownClaims } = this.#process;
    return events.filter(this.#followed.claims ?? claimsAnEnd).length + ownClaims;
  }

  #over(): boolean {
    return this.#followed.isOver?.() ?? this.#process.view.closed;
  }

  /** The deadline, or the end of the time that an end state may stand without `Closed`. */
  #limit(): number {
    if (this.#restingSince === undefined) return this.#deadline;
    const grace = (this.#followed.spans.restingGraceSeconds ?? 0) * 1_000;
    return Math.min(this.#deadline, this.#restingSince + grace);
  }
}
