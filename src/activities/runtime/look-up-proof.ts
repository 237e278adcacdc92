// A look-up whose finding the specification does not show: an empty one proves nothing until it has found an item of
// ours (docs/reading-the-specification.md §1, docs/decisions/0017). What is found and missed is remembered for the
// account by journal/look-up-proofs.ts.
import type { LookUpFinding } from "../../journal/journal.js";
import type { LookUpKey, LookUpProofs } from "../../journal/look-up-proofs.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { Calls } from "./effect.js";

export interface AssumedLookUp<S> {
  /** What the item looks like to the look-up: one form may be found and another one not. */
  form: string;
  /** What anybody can look for it by, later too; `token` is that of the effect's row. */
  sampleOf(token: string): S;
  /** The form of the item that was found. */
  find(sample: S): Promise<string | undefined>;
  /** A sample needs no more than the token, so that effects of earlier releases are samples too. */
  isByToken?: true;
}

export class LookUpProof<S> {
  readonly #proofs: LookUpProofs;
  readonly #key: LookUpKey;
  readonly #assumed: AssumedLookUp<S>;
  /** Of the effect that was answered just now. */
  #answered: string | undefined;

  constructor(proofs: LookUpProofs, of: Omit<LookUpKey, "form">, assumed: AssumedLookUp<S>) {
    this.#proofs = proofs;
    this.#key = { ...of, form: assumed.form };
    this.#assumed = assumed;
  }

  /** The calls of an effect, with what an empty look-up is worth. */
  around<A>(calls: Calls<A>): Calls<A> {
    const { send, lookUp } = calls;
    return {
      ...calls,
      send: async (given) => {
        const answer = await send(given);
        this.#answered = given.token;
        return answer;
      },
      lookUpFinding: () => this.#finding(),
      ...(lookUp && {
        lookUp: async (token) => {
          const found = await lookUp(token);
          if (found !== undefined) await quietly(() => this.#proofs.found(this.#key));
          return found;
        },
      }),
    };
  }

  /** Looks for what was answered just now, where nothing is known of the account or not for long; never fails the effect. */
  async afterAnswer(): Promise<void> {
    const token = this.#answered;
    if (token === undefined) return;
    await quietly(async () => {
      const mayLook = await this.#proofs.offer(this.#key, this.#assumed.sampleOf(token));
      if (mayLook) await this.#look();
    });
  }

  /** Asked only where it decides: before something is sent again, and while a lost answer waits. */
  async #finding(): Promise<LookUpFinding> {
    await quietly(() => this.#look());
    const known = await this.#proofs.finding(this.#key);
    if (known !== "unproven" || !this.#assumed.isByToken) return known;
    await quietly(() => this.#lookForEarlier());
    return this.#proofs.finding(this.#key);
  }

  async #look(): Promise<void> {
    await this.#proofs.look(this.#key, async (sample) => {
      const form = await this.#find(sample as S);
      return form !== undefined;
    });
  }

  /** What an earlier release submitted proves it too; not to find that proves nothing. */
  async #lookForEarlier(): Promise<void> {
    for (const token of await this.#proofs.newestAnswered(this.#key)) {
      const form = await this.#find(this.#assumed.sampleOf(token));
      if (form === undefined) continue;
      await this.#proofs.found({ ...this.#key, form });
      if (form === this.#key.form) return;
    }
  }

  /** An answer that cannot be used, or a path that is not there, finds nothing; one that did not come says nothing. */
  async #find(sample: S): Promise<string | undefined> {
    try {
      return await this.#assumed.find(sample);
    } catch (error) {
      const isMiss =
        error instanceof ProviderError &&
        (error.kind === "protocol" || error.kind === "notVisibleYet");
      if (isMiss) return undefined;
      throw error;
    }
  }
}

/** The proof is not what the effect is about: what goes wrong with it is tried again another time. */
async function quietly(work: () => Promise<unknown>): Promise<void> {
  await work().catch(() => undefined);
}
