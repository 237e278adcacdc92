// One attempt at an effect: take the row, send, keep what came. Nothing is sent without the take being committed, nothing is
// answered without the answer being committed.
import { randomUUID } from "node:crypto";
import { openAnswer, sealAnswer } from "./answers.js";
import type { Performance, SealedEffect } from "./effect.js";
import { EffectInFlight, EffectRefused, JournalUnavailable } from "./errors.js";
import { insist, mayHaveRun, reached, startClocks, throwIf } from "./patience.js";
import type { Hold, Rows, State } from "./rows.js";
import { wireToken } from "./token.js";

// The rest of the lease is for storing the answer.
const SENDING_SHARE = 0.9;

/** Answered, or to be looked at again because of `cause`. */
export type Attempt<A> = { answer: A } | { cause: unknown };

export class Sender {
  readonly #rows: Rows;
  readonly #sendingMs: number;
  readonly #patienceMs: number;

  constructor(rows: Rows, leaseMs: number, patienceMs: number) {
    this.#rows = rows;
    this.#sendingMs = leaseMs * SENDING_SHARE;
    this.#patienceMs = patienceMs;
  }

  /** Undefined where somebody else was faster. */
  async attempt<A>(
    effect: SealedEffect,
    performance: Performance<A>,
    token: string,
    take: (holder: string) => Promise<Hold | undefined>,
    before?: State,
  ): Promise<Attempt<A> | undefined> {
    throwIf(performance.closed?.());
    const holder = randomUUID();
    const clocks = startClocks();
    const giveBack = () =>
      this.#insist(() => this.#rows.notSent({ token, holder, ...(before && { before }) }, false));
    let hold: Hold | undefined;
    try {
      hold = await take(holder);
    } catch (error) {
      // It may have been committed all the same; we shall not send, so it is given back.
      if (mayHaveRun(error)) await giveBack();
      throw new JournalUnavailable(error);
    }
    if (hold === undefined) return undefined;
    if (clocks.elapsed() >= this.#sendingMs) {
      await giveBack();
      throw new EffectInFlight(effect.step, 0);
    }
    return this.#send(effect, performance, hold, new Date(clocks.wall + this.#sendingMs));
  }

  /** The first answer stands: where another one is there already, that one is returned. */
  async keep<A>({ sealer }: SealedEffect, token: string, answer: A): Promise<A> {
    const sealed = sealAnswer(sealer, token, answer);
    if (await this.#insist(() => this.#rows.answer(token, sealed))) return answer;
    const row = await reached(this.#rows.find(token));
    return row?.answer ? (openAnswer(sealer, token, row.answer) as A) : answer;
  }

  async #send<A>(
    effect: SealedEffect,
    performance: Performance<A>,
    hold: Hold,
    deadline: Date,
  ): Promise<Attempt<A>> {
    const { token, attempt, denied } = hold;
    const idempotencyToken = wireToken(token, denied);
    let answer: A;
    try {
      answer = await performance.send({ token, idempotencyToken, attempt, deadline });
    } catch (error) {
      const verdict = performance.verdict(error);
      if (verdict.kind === "notSent") {
        await this.#insist(() => this.#rows.notSent(hold, verdict.renewToken === true));
        throw error;
      }
      if (verdict.kind === "noAnswer") {
        await this.#insist(() => this.#rows.noAnswer(hold));
        return { cause: error };
      }
      const sealed = sealAnswer(effect.sealer, token, verdict.refusal);
      const stored = await this.#insist(() => this.#rows.refuse(hold, sealed));
      if (stored) throw new EffectRefused(effect.step, verdict.refusal);
      return { cause: error };
    }
    return { answer: await this.keep(effect, token, answer) };
  }

  #insist<T>(work: () => Promise<T>): Promise<T> {
    return insist(work, this.#patienceMs);
  }
}
