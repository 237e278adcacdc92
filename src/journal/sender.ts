// One attempt at an effect: take the row, send, store the outcome. The take is committed before anything is sent, and the answer is
// committed before it is returned.
import { randomUUID } from "node:crypto";
import { openAnswer, sealAnswer } from "./answers.js";
import { hasOtherInput } from "./chain.js";
import type { EffectHandlers, SealedEffect } from "./effect.js";
import { EffectInFlight, EffectRefused, JournalUnavailable } from "./errors.js";
import { mayHaveCommitted, asUnavailable, retryFor, startClocks, throwIf } from "./patience.js";
import type { Row } from "./row.js";
import { takeOf } from "./rows.js";
import type { Hold, Rows } from "./rows.js";
import { wireToken } from "./effect.js";

// The rest of the lease is for storing the answer.
const SENDING_SHARE = 0.9;

/** The answer, or the error after which the row decides again. */
export type SendOutcome<A> = { answer: A } | { cause: unknown };

export class Sender {
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
    if (clocks.elapsed() >= sendingMs) {
      await giveBack();
      throw new EffectInFlight(effect.step, 0);
    }
    return this.#send(effect, handlers, hold, new Date(clocks.wall + sendingMs));
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
    deadline: Date,
  ): Promise<SendOutcome<A>> {
    const { token, attempt, tokenGeneration } = hold;
    const idempotencyToken = wireToken(token, tokenGeneration);
    let answer: A;
    try {
      answer = await handlers.send({ token, idempotencyToken, attempt, deadline });
    } catch (error) {
      const failure = handlers.sendFailureOf(error);
      if (failure.kind === "notSent") {
        const end = failure.renewToken ? "denied" : "notSent";
        await this.#retry(() => this.#rows.end(hold, end));
        throw error;
      }
      if (failure.kind === "noAnswer") {
        await this.#retry(() => this.#rows.noAnswer(hold));
        return { cause: error };
      }
      const sealed = sealAnswer(effect.sealer, token, failure.refusal);
      const counts = await this.#retry(() => this.#rows.end(hold, "refused", sealed));
      if (counts) throw new EffectRefused(effect.step, failure.refusal);
      return { cause: error };
    }
    return { answer: await this.keep(effect, token, answer) };
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return retryFor(work, this.#patienceMs);
  }
}
