// The caller accepts or refuses the contract, before the signer gets a code (docs/reading-the-specification.md §7).
import { acceptContract } from "../../contracts/sign-one-shot/messages.js";
import type { ContractAnswer } from "../../contracts/sign-one-shot/messages.js";
import { secondsFromNow } from "../runtime/clock.js";
import { decidedBy } from "../runtime/decisions.js";
import type { Proven } from "../runtime/decisions.js";
import { invalidInput } from "../runtime/invalid-input.js";
import type { AnyFlow } from "../runtime/flow.js";
import { waitUntil, waitUntilDue } from "../runtime/waits.js";

export class ContractDialogue {
  readonly #flow: AnyFlow;
  #isAwaited = false;
  #isPast = false;
  #accepted: boolean | undefined;

  constructor(flow: AnyFlow) {
    this.#flow = flow;
    flow.lifecycle.onDecision(
      acceptContract,
      "Accept or refuse the contract",
      ({ accepted }, who) => this.#take(accepted, who),
      (given) => {
        const { accepted } = (given ?? {}) as { accepted?: unknown };
        if (typeof accepted !== "boolean") throw invalidInput("accepted", "must be true or false");
      },
    );
  }

  /** Returns false if the contract was refused or no answer came in time; then the outcome is set. */
  async isAccepted({ holderDeadlineSeconds }: { holderDeadlineSeconds: number }): Promise<boolean> {
    const end = secondsFromNow(holderDeadlineSeconds);
    this.#isAwaited = true;
    const isKnown = () => this.#accepted !== undefined;
    const came = await waitUntil(this.#flow, isKnown, {
      what: "the acceptance of the contract",
      end,
      summary: "Time limit for accepting the contract",
    });
    this.#isAwaited = false;
    this.#isPast = true;
    if (this.#accepted === true) return true;
    this.#flow.status.ownOutcome = came ? "contractRefused" : "expired";
    return false;
  }

  async #take(accepted: boolean, who: Proven): Promise<ContractAnswer> {
    await waitUntilDue(() => this.#isAwaited || this.#isPast);
    if (!this.#isAwaited) return { answer: "notAwaited" };
    this.#isAwaited = false;
    this.#accepted = accepted;
    const answer = accepted ? "accepted" : "refused";
    this.#flow.log.note(decidedBy(who, `Contract ${answer}`));
    return { answer };
  }
}
