// One intent, one effect: a new row takes the effect before it is sent, and its answer is stored before it is used
// (docs/design.md §6, docs/reading-the-specification.md §0–1). Where the row exists already, next-action.ts decides what is
// done next, and the journal does it.
import { randomUUID } from "node:crypto";
import type { ProcessKey, Sealer, Sealers } from "../crypto/data-key.js";
import { databaseNow } from "../postgres/pool.js";
import type { Pool } from "../postgres/pool.js";
import { wireToken } from "./effect.js";
import type { Effect, EffectHandlers, LookUpFinding, SealedEffect, Send } from "./effect.js";
import { openRowAnswer, openAnswer, sealAnswer } from "./answers.js";
import { hasOtherInput, planOf } from "./chain.js";
import type { Plan, Planned } from "./chain.js";
import { reserveReference, noteReference, referencesOf, takeReference } from "./references.js";
import { decide, withdraw } from "./decisions.js";
import type { Decided, Decision, OccurrenceKey, StepKey } from "./decisions.js";
import {
  EffectAbsentOnce,
  EffectInFlight,
  EffectMismatch,
  EffectRefused,
  EffectUnknown,
  EffectWithdrawn,
  ErasedKeyError,
  isUndecryptable,
  JournalUnavailable,
} from "./errors.js";
import { eventSecretsOf, noteSecretTried } from "./event-secrets.js";
import type { CallAction, IfAbsent } from "./next-action.js";
import { addOwner, ownedOf } from "./ownership.js";
import { asUnavailable, throwIf, mayHaveCommitted, retryFor, startClocks } from "./patience.js";
import { listEffects } from "./retention.js";
import type { EffectSummary } from "./retention.js";
import type { Row } from "./row.js";
import { Rows, takeOf } from "./rows.js";
import type { Hold } from "./rows.js";
import { stepHistoryOf } from "./step-history.js";
import type { StepHistory } from "./step-history.js";

export type { Effect, EffectHandlers, LookUpFinding, Send, SendFailure } from "./effect.js";
export type { PriorOccurrence, StepHistory } from "./step-history.js";
export { effectToken } from "./effect.js";
export * from "./errors.js";

export interface JournalOptions {
  leaseMs: number;
  lookUpSpacingMs: number;
  /** How long the outcome of a call is kept in memory and written again while PostgreSQL is away. */
  patienceMs?: number;
}

const MAX_ROUNDS = 10;

/** Actions that need neither the provider nor a take. */
const knownFromRow: ReadonlySet<CallAction["do"]> = new Set([
  "answer",
  "refuse",
  "withdrawn",
  "mismatch",
  "wait",
]);

export class Journal {
  readonly #pool: Pool;
  readonly #sealers: Sealers;
  readonly #rows: Rows;
  readonly #leaseMs: number;
  readonly #spacingMs: number;
  readonly #sender: Sender;

  readonly now = this.#asking(databaseNow);
  readonly withdraw = this.#asking(withdraw);
  readonly addOwner = this.#asking(addOwner);
  readonly ownedOf = this.#asking(ownedOf);
  readonly noteReference = this.#asking(noteReference);
  readonly reserveReference = this.#asking(reserveReference);
  readonly referencesOf = this.#asking(referencesOf);
  readonly takeReference = this.#asking(takeReference);
  readonly eventSecrets = this.#asking(eventSecretsOf);
  readonly noteSecretTried = this.#asking(noteSecretTried);

  constructor(pool: Pool, sealers: Sealers, options: JournalOptions) {
    this.#pool = pool;
    this.#sealers = sealers;
    this.#rows = new Rows(pool, options.leaseMs);
    this.#leaseMs = options.leaseMs;
    this.#spacingMs = options.lookUpSpacingMs;
    this.#sender = new Sender(this.#rows, options.patienceMs ?? 60_000);
  }

  async perform<A>(
    given: Effect,
    handlers: EffectHandlers<A>,
    mode: { watchOnly?: boolean } = {},
  ): Promise<A> {
    const effect = { ...given, sealer: await this.#sealerOf(given) };
    const isCircuitOpen = handlers.openError?.() !== undefined;
    // The process owns its documents even while it may not send them: that can last for months.
    if (mode.watchOnly || isCircuitOpen) await this.addOwner(effect, effect.documents ?? []);
    if (mode.watchOnly) return this.#watch(effect, handlers);
    // While calls may not pass, an existing row may still have the answer.
    const first = isCircuitOpen
      ? undefined
      : await this.#sender.attempt(effect, handlers, undefined);
    return this.#settle(effect, handlers, first);
  }

  async #settle<A>(
    effect: SealedEffect,
    handlers: EffectHandlers<A>,
    first?: SendOutcome<A>,
  ): Promise<A> {
    let outcome = first;
    let cause: unknown;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (outcome && "answer" in outcome) return outcome.answer;
      if (outcome) cause = outcome.cause;
      outcome = await this.#resume(effect, handlers, cause);
    }
    throw new EffectInFlight(effect.step, this.#leaseMs);
  }

  async decide(key: OccurrenceKey, decision: Decision): Promise<Decided> {
    const sealer = await this.#sealerOf(key);
    return asUnavailable(decide(this.#pool, sealer, key, decision, this.#leaseMs));
  }

  /** Reads the results of earlier runs of a process for a step whose occurrences are separate effects. */
  async past(key: StepKey): Promise<StepHistory> {
    const rows = await asUnavailable(this.#rows.ofStep(key));
    return stepHistoryOf(rows, () => this.#sealerOf(key));
  }

  /** Whether something of the process exists or may exist at the account. */
  mayHaveEffect(key: ProcessKey, account: string): Promise<boolean> {
    return asUnavailable(this.#rows.anyExists(key, account));
  }

  async rows(key: ProcessKey): Promise<EffectSummary[]> {
    return listEffects(this.#pool, await this.#sealerOf(key), key);
  }

  // There is a row already, and it decides. `cause` is the error of this attempt's own call, if it has sent already.
  async #resume<A>(
    effect: SealedEffect,
    handlers: EffectHandlers<A>,
    cause: unknown,
  ): Promise<SendOutcome<A> | undefined> {
    const plan = planOf(await asUnavailable(this.#rows.ofStep(effect)), effect, {
      by: "call",
      isAnswerLost: cause !== undefined,
      canLookUp: handlers.lookUp !== undefined,
      spacingMs: this.#spacingMs,
    });
    await this.#checkErasureAndInput(effect, plan);
    const known = await this.#carryOut(effect, handlers, plan, cause);
    return known ?? this.#sender.attempt(effect, handlers, plan.newest);
  }

  async #watch<A>(effect: SealedEffect, handlers: EffectHandlers<A>): Promise<A> {
    const plan = planOf(await asUnavailable(this.#rows.ofStep(effect)), effect, { by: "watch" });
    const known = await this.#carryOut(effect, handlers, plan);
    // The look-up has been proven meanwhile: the row's own rules go on, and may send again.
    return known ? known.answer : this.#settle(effect, handlers);
  }

  /** An answer, or undefined where nothing stands against a send; throws while nothing may be sent. */
  async #carryOut<A>(
    effect: SealedEffect,
    handlers: EffectHandlers<A>,
    { steps }: Plan,
    cause?: unknown,
  ): Promise<{ answer: A } | undefined> {
    for (const planned of steps) {
      const known = await this.#carryOutOne(effect, handlers, planned, cause);
      if (known) return known;
    }
    return undefined;
  }

  async #carryOutOne<A>(
    effect: SealedEffect,
    handlers: EffectHandlers<A>,
    { row, action }: Planned,
    cause: unknown,
  ): Promise<{ answer: A } | undefined> {
    const { step } = effect;
    const token = row?.token ?? effect.token;
    switch (action.do) {
      case "take":
        return undefined;
      case "answer":
        return this.#adopt(effect, row as Row);
      case "refuse":
        throw new EffectRefused(step, openRowAnswer<object>(effect.sealer, row as Row));
      case "withdrawn":
        throw new EffectWithdrawn(step);
      case "mismatch":
        throw new EffectMismatch(step);
      case "unknown":
        throw new EffectUnknown(step, token, cause);
      case "wait":
        throw new EffectInFlight(step, action.ms);
      case "lookAgain":
        throw new EffectAbsentOnce(step, action.ms, cause);
      case "lookUp":
        return this.#lookUp(effect, handlers, row, action.ifAbsent, cause);
    }
  }

  async #lookUp<A>(
    effect: SealedEffect,
    handlers: EffectHandlers<A>,
    row: Row | undefined,
    ifAbsent: IfAbsent,
    cause: unknown,
  ): Promise<{ answer: A } | undefined> {
    const { step, sealer } = effect;
    const token = row?.token ?? effect.token;
    // After a denial the look-up belongs to the send that follows it.
    if (ifAbsent.do === "take" && row?.state !== "sending") throwIf(handlers.openError?.());
    const found = await handlers.lookUp?.(token);
    if (found !== undefined)
      return { answer: row ? await this.#sender.keep(effect, row.token, found) : found };
    if (ifAbsent.do === "lookAgain") {
      if (row && ifAbsent.isFirst) await asUnavailable(this.#rows.absent(row));
      throw new EffectAbsentOnce(step, ifAbsent.ms, cause);
    }
    const finding = ifAbsent.needsProof ? await this.#findingOf(effect, handlers) : undefined;
    if (finding !== undefined && finding !== "found")
      throw new EffectUnknown(step, token, cause, finding);
    switch (ifAbsent.do) {
      case "take":
        return undefined;
      case "refuse":
        if (row && (await asUnavailable(this.#rows.settleRefusal(row))))
          throw new EffectRefused(step, openRowAnswer<object>(sealer, row));
        return undefined;
      case "goOn":
        if (finding === "found") return undefined;
        throw new EffectUnknown(step, token, cause);
      case "unknown":
        throw new EffectUnknown(step, token, cause);
    }
  }

  /** A `keyed` request carries the process's callback address, so who calls that address has the item, shown or not (P2 §6.1). */
  async #findingOf<A>(
    effect: SealedEffect,
    handlers: EffectHandlers<A>,
  ): Promise<LookUpFinding | "reported" | undefined> {
    const isReported =
      effect.effectClass === "keyed" && (await asUnavailable(this.#rows.isReported(effect)));
    return isReported ? "reported" : handlers.lookUpFinding?.();
  }

  /** An erasure leaves no digest in a row, and may have begun without having reached the row yet. */
  async #checkErasureAndInput(effect: SealedEffect, { newest, steps }: Plan): Promise<void> {
    const isKnown = steps.some(({ action }) => knownFromRow.has(action.do));
    if (newest?.digest && isKnown) return;
    if (await asUnavailable(this.#rows.isErased(effect))) throw new ErasedKeyError();
    const isNewInput = newest !== undefined && !isKnown && hasOtherInput(effect, newest);
    if (isNewInput && (await asUnavailable(this.#rows.anyExists(effect))))
      throw new EffectMismatch(effect.step);
  }

  /** The row must outlive the history that its answer is written into, so its retention starts again. */
  async #adopt<A>(effect: SealedEffect, row: Row): Promise<{ answer: A }> {
    const isThere = await asUnavailable(this.#rows.renew(effect, row.token));
    // The clean-up has just removed the row: the next attempt makes a new one.
    if (!isThere) throw new EffectInFlight(effect.step, 0);
    return { answer: openRowAnswer<A>(effect.sealer, row) };
  }

  #asking<Given extends unknown[], R>(ask: (pool: Pool, ...given: Given) => Promise<R>) {
    return (...given: Given) => asUnavailable(ask(this.#pool, ...given));
  }

  /** Without the key nothing is sent. */
  async #sealerOf({ namespace, workflowId }: ProcessKey): Promise<Sealer> {
    try {
      return await this.#sealers.of({ namespace, workflowId });
    } catch (error) {
      if (isUndecryptable(error) || error instanceof ErasedKeyError) throw error;
      throw new JournalUnavailable(error);
    }
  }
}

/** The rest of the lease is for storing the answer. */
const SENDING_SHARE = 0.9;

/** The answer, or the error after which the row decides again. */
type SendOutcome<A> = { answer: A } | { cause: unknown };

/**
 * One attempt at an effect: take the row, send, store the outcome. The take is committed before anything is sent, and the answer is
 * committed before it is returned.
 */
class Sender {
  readonly #rows: Rows;
  readonly #patienceMs: number;

  constructor(rows: Rows, patienceMs: number) {
    this.#rows = rows;
    this.#patienceMs = patienceMs;
  }

  /** Takes the row, or makes it, and sends; undefined where another sender was faster. */
  async attempt<A>(
    effect: SealedEffect,
    handlers: EffectHandlers<A>,
    row: Row | undefined,
  ): Promise<SendOutcome<A> | undefined> {
    throwIf(handlers.openError?.());
    const holder = randomUUID();
    const clocks = startClocks();
    const giveBack = () =>
      this.#retry(() => this.#rows.end(takeOf(effect, row, holder), "notSent"));
    let hold: Hold | undefined;
    try {
      hold = row
        ? await this.#rows.takeAgain(effect, row, holder, hasOtherInput(effect, row))
        : await this.#rows.takeNew(effect, holder);
    } catch (error) {
      // The take may have been committed. Nothing will be sent, so the row is given back.
      if (mayHaveCommitted(error)) await giveBack();
      throw new JournalUnavailable(error);
    }
    if (hold === undefined) return undefined;
    const sendingMs = this.#rows.leaseOf(effect) * SENDING_SHARE;
    const leftMs = () => sendingMs - clocks.elapsed();
    if (leftMs() <= 0) {
      await giveBack();
      throw new EffectInFlight(effect.step, 0);
    }
    return this.#send(effect, handlers, hold, leftMs);
  }

  /** The first answer stays: returns the stored one, if there is one already. */
  async keep<A>({ sealer }: SealedEffect, token: string, answer: A): Promise<A> {
    const sealed = sealAnswer(sealer, token, answer);
    if (await this.#retry(() => this.#rows.answer(token, sealed))) return answer;
    const row = await asUnavailable(this.#rows.find(token));
    return row?.answer ? (openAnswer(sealer, token, row.answer) as A) : answer;
  }

  async #send<A>(
    effect: SealedEffect,
    handlers: EffectHandlers<A>,
    hold: Hold,
    leftMs: Send["leftMs"],
  ): Promise<SendOutcome<A>> {
    const { token, attempt, tokenGeneration } = hold;
    const idempotencyToken = wireToken(token, tokenGeneration);
    let answer: A;
    try {
      answer = await handlers.send({ token, idempotencyToken, attempt, leftMs });
    } catch (error) {
      const failure = handlers.sendFailureOf(error);
      if (failure.kind === "refused") {
        const sealed = sealAnswer(effect.sealer, token, failure.refusal);
        const counts = await this.#retry(() => this.#rows.end(hold, "refused", sealed));
        if (counts) throw new EffectRefused(effect.step, failure.refusal);
        return { cause: error };
      }
      if (failure.kind === "noAnswer" && effect.effectClass !== "repeatable") {
        await this.#retry(() => this.#rows.noAnswer(hold));
        return { cause: error };
      }
      await this.#retry(() => this.#rows.end(hold, failure.kind));
      throw error;
    }
    return { answer: await this.keep(effect, token, answer) };
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return retryFor(work, this.#patienceMs);
  }
}
