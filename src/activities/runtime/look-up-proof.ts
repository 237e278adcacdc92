// A look-up that rests on an assumption, because the specification does not show it. An empty result proves nothing until
// the look-up has found one of our own items (docs/reading-the-specification.md §1, docs/decisions/0017).
// journal/look-up-proofs.ts keeps the results.
import type { LookUpFinding } from "../../journal/journal.js";
import type { LookUpKey, LookUpProofs } from "../../journal/look-up-proofs.js";
import type { Operation, Provider } from "../../providers/registry.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { ProviderContext } from "./provider-context.js";

export interface AssumedLookUp<S> {
  /** A look-up may find one form of an item and miss another. */
  form: string;
  /** Returns what the item can be found by, also later; `token` is that of the effect's row. */
  sampleOf(token: string): S;
  /** The form of the item that was found. */
  find(sample: S): Promise<string | undefined>;
  /** A sample is the token alone, so effects from before the look-up was configured are samples too. */
  isByToken?: true;
  /** The item is changed afterwards, so that no later look-up finds it: it is no sample. */
  isNoSample?: boolean;
}

interface Account {
  name: string;
  lookUpConfiguration?: string;
}

export class LookUpProof<S> {
  readonly #proofs: LookUpProofs;
  readonly #key: LookUpKey;
  readonly #assumed: AssumedLookUp<S>;

  private constructor(proofs: LookUpProofs, key: LookUpKey, assumed: AssumedLookUp<S>) {
    this.#proofs = proofs;
    this.#key = key;
    this.#assumed = assumed;
  }

  /** Undefined where the look-up rests on no assumption. */
  static of<P extends Provider, S>(
    { provider, account, deps }: ProviderContext<P>,
    operation: Operation<P>,
    assumed: AssumedLookUp<S> | undefined,
  ): LookUpProof<S> | undefined {
    // A digest of the configuration that decides which items a look-up finds; not all accounts have one.
    const { name, lookUpConfiguration: configuration }: Account = account;
    if (!assumed || configuration === undefined) return undefined;
    const { form } = assumed;
    const key = { provider, account: name, operation, form, configuration };
    return new LookUpProof(deps.lookUpProofs, key, assumed);
  }

  /** The effect's own look-up has found its item. */
  async noteFound(): Promise<void> {
    await quietly(() => this.#proofs.found(this.#key));
  }

  /** Looks for the item that was just answered, if the account is not proven yet or not lately; never fails the effect. */
  async afterAnswer(token: string): Promise<void> {
    if (this.#assumed.isNoSample) return;
    await quietly(async () => {
      const mayLook = await this.#proofs.offer(this.#key, this.#assumed.sampleOf(token));
      if (mayLook) await this.#look();
    });
  }

  /** Says what an empty look-up proves. It is needed only before a call is repeated, and while a lost answer waits. */
  async finding(): Promise<LookUpFinding> {
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

  /** An item from before the look-up was configured proves it too; a miss proves nothing. */
  async #lookForEarlier(): Promise<void> {
    for (const token of await this.#proofs.newestAnswered(this.#key)) {
      const form = await this.#find(this.#assumed.sampleOf(token));
      if (form === undefined) continue;
      await this.#proofs.found({ ...this.#key, form });
      if (form === this.#key.form) return;
    }
  }

  /** An unusable answer or a missing path counts as a miss; no answer proves nothing. */
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

/** The effect does not depend on the proof: an error here is ignored, and the next effect tries again. */
async function quietly(work: () => Promise<unknown>): Promise<void> {
  await work().catch(() => undefined);
}
