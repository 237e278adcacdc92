// One intent, one effect: every effect is taken by compare-and-set before it is sent, and its answer is stored before
// it is used (docs/design.md §6, docs/reading-the-specification.md §0–1). What a retry may do depends on the row and on
// the operation's effect class alone.
import type { ProcessKey, Sealer, Sealers } from "../crypto/data-key.js";
import type { Pool } from "../postgres/pool.js";
import type { Effect, Performance, SealedEffect } from "./effect.js";
import { openAnswer } from "./answers.js";
import { chainOf, hasOtherInput } from "./chain.js";
import { correlate } from "./correlations.js";
import type { Correlation } from "./correlations.js";
import { decide, withdraw } from "./decisions.js";
import type { Decided, Decision, StepKey, Withdrawal } from "./decisions.js";
import {
  EffectAbsentOnce,
  EffectInFlight,
  EffectMismatch,
  EffectRefused,
  EffectUnknown,
  EffectWithdrawn,
  ErasedKeyError,
  isLocked,
  JournalUnavailable,
} from "./errors.js";
import { own } from "./ownership.js";
import type { OwnedDocument, Owner } from "./ownership.js";
import { reached, throwIf } from "./patience.js";
import { listEffects, purgeEffects } from "./retention.js";
import type { EffectSummary, IsOpen } from "./retention.js";
import { Rows } from "./rows.js";
import type { Row } from "./rows.js";
import { Sender } from "./sender.js";
import type { Attempt } from "./sender.js";

export type { Effect, LookUpFinding, Performance, Send, Verdict } from "./effect.js";
export { effectToken } from "./token.js";
export * from "./errors.js";

export interface JournalOptions {
  leaseMs: number;
  lookUpSpacingMs: number;
  /** How long an outcome that PostgreSQL does not take is kept in memory and tried again. */
  patienceMs?: number;
}

export interface Standing {
  occurrence: string;
  isAnswered: boolean;
  answer?: unknown;
}

export interface Past {
  /** One that was answered, else one that nobody knows of: a new run makes no further one. */
  standing?: Standing;
  /** How many may have had their effect. */
  made: number;
  refused: number;
}

const MAX_ROUNDS = 10;

export class Journal {
  readonly #pool: Pool;
  readonly #sealers: Sealers;
  readonly #rows: Rows;
  readonly #leaseMs: number;
  readonly #spacingMs: number;
  readonly #sender: Sender;

  constructor(pool: Pool, sealers: Sealers, options: JournalOptions) {
    this.#pool = pool;
    this.#sealers = sealers;
    this.#rows = new Rows(pool, options.leaseMs);
    this.#leaseMs = options.leaseMs;
    this.#spacingMs = options.lookUpSpacingMs;
    this.#sender = new Sender(this.#rows, options.leaseMs, options.patienceMs ?? 60_000);
  }

  async perform<A>(
    given: Effect,
    performance: Performance<A>,
    mode: { watchOnly?: boolean } = {},
  ): Promise<A> {
    const effect = { ...given, sealer: await this.#sealerOf(given) };
    const isClosed = performance.closed?.() !== undefined;
    // Taken all the same: the process may wait for months before it may send them.
    if (mode.watchOnly || isClosed) await this.own(effect, effect.documents ?? []);
    if (mode.watchOnly) return this.#watch(effect, performance);
    // Where a send would fail fast, a row that is there may still have the answer.
    const first = isClosed ? undefined : await this.#sendNew(effect, performance);
    return this.#settle(effect, performance, first);
  }

  async #settle<A>(
    effect: SealedEffect,
    performance: Performance<A>,
    first?: Attempt<A>,
  ): Promise<A> {
    let attempt = first;
    let cause: unknown;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (attempt && "answer" in attempt) return attempt.answer;
      if (attempt) cause = attempt.cause;
      attempt = await this.#resume(effect, performance, cause);
    }
    throw new EffectInFlight(effect.step, this.#leaseMs);
  }

  /** Nothing can be sent for the step any more, where that can still be had. */
  withdraw(key: StepKey): Promise<Withdrawal> {
    return reached(withdraw(this.#pool, key));
  }

  async decide(key: StepKey, decision: Decision): Promise<Decided> {
    const sealer = await this.#sealerOf(key);
    return reached(decide(this.#pool, sealer, key, decision, this.#leaseMs));
  }

  /** The process owns these documents: said before they are read, or before their bytes are stored. */
  own(owner: Owner, documents: OwnedDocument[]): Promise<void> {
    return reached(own(this.#pool, owner, documents));
  }

  /** Callbacks with this reference belong to the process: said after its answer is stored, before it is used; the first one stands. */
  correlate(correlation: Correlation): Promise<void> {
    return reached(correlate(this.#pool, correlation));
  }

  /** What the runs of a process have made of a step so far whose attempts are effects of their own. */
  async past(key: StepKey): Promise<Past> {
    const rows = await reached(this.#rows.ofStep(key));
    const standing = await this.#standing(rows, key);
    return {
      ...(standing && { standing }),
      made: rows.filter(
        ({ state, uncertain }) => state === "answered" || state === "sending" || uncertain,
      ).length,
      refused: rows.filter(({ state }) => state === "refused").length,
    };
  }

  async #standing(rows: Row[], key: StepKey): Promise<Standing | undefined> {
    const answered = rows.findLast(({ state }) => state === "answered");
    if (answered) {
      // Opened only where it is wanted: its key may be gone.
      const sealer = await this.#sealerOf(key).catch((error: unknown) => ({ error }));
      const open = () => {
        if ("error" in sealer) throw sealer.error;
        return openRow(sealer, answered);
      };
      return {
        occurrence: answered.occurrence,
        isAnswered: true,
        get answer() {
          return open();
        },
      };
    }
    const open = rows.findLast(
      ({ state, uncertain, nextOccurrence }) =>
        (state === "sending" || uncertain) && nextOccurrence === null,
    );
    return open && { occurrence: open.occurrence, isAnswered: false };
  }

  /** The database's clock. */
  async now(): Promise<Date> {
    const { rows } = await reached(
      this.#pool.query<{ now: Date }>("select clock_timestamp() as now"),
    );
    return rows[0]?.now ?? new Date();
  }

  async rows(key: ProcessKey): Promise<EffectSummary[]> {
    return listEffects(this.#pool, await this.#sealerOf(key), key);
  }

  purge(olderThan: Date, isOpen: IsOpen, limit?: number): Promise<number> {
    return purgeEffects(this.#pool, olderThan, isOpen, limit);
  }

  #sendNew<A>(effect: SealedEffect, performance: Performance<A>): Promise<Attempt<A> | undefined> {
    return this.#sender.attempt(effect, performance, effect.token, (holder) =>
      this.#rows.takeNew(effect, holder),
    );
  }

  // A row was there: what it says decides. `cause` is what this performance's own call met, if it sent already.
  async #resume<A>(
    effect: SealedEffect,
    performance: Performance<A>,
    cause: unknown,
  ): Promise<Attempt<A> | undefined> {
    const { row, earlier } = await this.#current(effect);
    // An erasure leaves no digest in a row.
    if (!row?.digest) await this.#refuseErased(effect);
    const known = await this.#known<A>(effect, row, earlier);
    if (known) return known;
    if (row === undefined) return this.#sendNew(effect, performance);
    // Its erasure may have begun without having reached the row yet.
    await this.#refuseErased(effect);
    const newInput = hasOtherInput(effect, row);
    if (newInput && (await reached(this.#rows.anyExists(effect))))
      throw new EffectMismatch(effect.step);
    const canAsk = effect.effectClass !== "once" && performance.lookUp !== undefined;
    const open = canAsk ? earlier.filter(({ state }) => state === "sending") : [];
    for (const one of [...open, row]) {
      const found = await this.#ask(effect, performance, one, cause);
      if (found) return found;
    }
    return this.#sender.attempt(
      effect,
      performance,
      row.token,
      (holder) => this.#rows.takeAgain(effect, row, holder, newInput),
      row.state,
    );
  }

  async #refuseErased(effect: SealedEffect): Promise<void> {
    if (await reached(this.#rows.isErased(effect))) throw new ErasedKeyError();
  }

  // What must be asked before anything is sent (again): returns what was found, throws while nothing may be sent.
  async #ask<A>(
    effect: SealedEffect,
    performance: Performance<A>,
    row: Row,
    cause: unknown,
  ): Promise<{ answer: A } | undefined> {
    if (!this.#mustAsk(effect, performance, row, cause)) return undefined;
    // After a denial the look-up belongs to the send that follows it.
    if (row.state !== "sending") throwIf(performance.closed?.());
    const found = await performance.lookUp?.(row.token);
    if (found !== undefined) return { answer: await this.#sender.keep(effect, row.token, found) };
    if (row.state !== "sending") return undefined;
    // A call that has just been cut off may still be worked on, so one empty look-up proves nothing then.
    const tooSoon = effect.effectClass === "keyed" || cause !== undefined;
    if (row.absent === 0 && tooSoon) {
      await reached(this.#rows.absent(row));
      throw new EffectAbsentOnce(effect.step, this.#spacingMs, cause);
    }
    if (row.leaseLeft > 0) throw new EffectAbsentOnce(effect.step, Math.ceil(row.leaseLeft), cause);
    const finding = (await performance.lookUpFinding?.()) ?? "found";
    // A person has decided to send again what a later row stands for.
    if (finding !== "found" && row.nextOccurrence === null)
      throw new EffectUnknown(effect.step, cause, finding);
    if (row.answer !== null && (await reached(this.#rows.settleRefusal(row))))
      throw new EffectRefused(effect.step, openRow<object>(effect.sealer, row));
    return undefined;
  }

  async #watch<A>(effect: SealedEffect, performance: Performance<A>): Promise<A> {
    const { row, earlier } = await this.#current(effect);
    const known = await this.#known<A>(effect, row, earlier);
    if (known) return known.answer;
    const found = await performance.lookUp?.(row?.token ?? effect.token);
    if (found !== undefined) return row ? this.#sender.keep(effect, row.token, found) : found;
    const isAsked = effect.effectClass === "keyed" || effect.effectClass === "lookup";
    const finding = isAsked ? await performance.lookUpFinding?.() : undefined;
    // The proof has come meanwhile: the row's own rules go on, and may send again.
    if (finding === "found" && row?.state === "sending") return this.#settle(effect, performance);
    throw new EffectUnknown(effect.step, undefined, finding === "found" ? undefined : finding);
  }

  // The newest decision's row, and those before it, which an answer may come late to.
  async #current(effect: SealedEffect): Promise<{ row: Row | undefined; earlier: Row[] }> {
    const chain = chainOf(await reached(this.#rows.ofStep(effect)), effect.occurrence);
    const mayExist = chain.filter(
      ({ state, uncertain }) => state === "sending" || state === "answered" || uncertain,
    );
    if (mayExist.some((row) => hasOtherInput(effect, row))) throw new EffectMismatch(effect.step);
    return { row: chain.at(-1), earlier: chain.slice(0, -1) };
  }

  // What needs no call: an answer, or a reason to stop.
  async #known<A>(
    effect: SealedEffect,
    row: Row | undefined,
    earlier: Row[],
  ): Promise<{ answer: A } | undefined> {
    if (row?.state === "answered") return this.#adopt(effect, row);
    const isHeld = row && (row.state === "notSent" || (row.state === "sending" && row.held));
    if (isHeld && row.leaseLeft > 0)
      throw new EffectInFlight(effect.step, Math.ceil(row.leaseLeft));
    const late = earlier.find(({ state }) => state === "answered");
    if (late) return this.#adopt(effect, late);
    if (row === undefined || hasOtherInput(effect, row)) return undefined;
    if (row.state === "refused")
      throw new EffectRefused(effect.step, openRow<object>(effect.sealer, row));
    if (row.state === "withdrawn") throw new EffectWithdrawn(effect.step);
    return undefined;
  }

  /** The row must outlive the history that is written with its answer: it is as young as its last use. */
  async #adopt<A>({ step, sealer }: SealedEffect, row: Row): Promise<{ answer: A }> {
    const isThere = await reached(this.#rows.renew(row.token));
    // Its retention has just ended: the next attempt finds no row.
    if (!isThere) throw new EffectInFlight(step, 0);
    return { answer: openRow<A>(sealer, row) };
  }

  // Whether the provider must be asked before anything is sent (again); throws where it cannot be, or where it is too early.
  #mustAsk<A>(
    effect: SealedEffect,
    performance: Performance<A>,
    row: Row,
    cause: unknown,
  ): boolean {
    if (row.state !== "sending")
      return (row.denied > 0 || row.uncertain) && performance.lookUp !== undefined;
    if (effect.effectClass === "repeatable") {
      // It is sent again unasked, but by one at a time.
      if (row.leaseLeft > 0) throw new EffectInFlight(effect.step, Math.ceil(row.leaseLeft));
      return false;
    }
    if (effect.effectClass === "once" || performance.lookUp === undefined)
      throw new EffectUnknown(effect.step, cause);
    const wait = row.absent > 0 ? Math.ceil(this.#spacingMs - row.absentFor) : 0;
    if (wait > 0) throw new EffectAbsentOnce(effect.step, wait, cause);
    return true;
  }

  /** Without the key nothing is sent. */
  async #sealerOf({ namespace, workflowId }: ProcessKey): Promise<Sealer> {
    try {
      return await this.#sealers.of({ namespace, workflowId });
    } catch (error) {
      if (isLocked(error) || error instanceof ErasedKeyError) throw error;
      throw new JournalUnavailable(error);
    }
  }
}

function openRow<A>(sealer: Sealer, { token, answer }: Row): A {
  if (answer === null) throw new JournalUnavailable(undefined);
  return openAnswer(sealer, token, answer) as A;
}
