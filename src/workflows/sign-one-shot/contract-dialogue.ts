// The caller accepts or refuses the contract, before the signer gets a code (docs/reading-the-specification.md §7).
import { acceptContract } from "../../contracts/sign-one-shot/messages.js";
import type { ContractAnswer } from "../../contracts/sign-one-shot/messages.js";
import { secondsFromNow } from "../runtime/clock.js";
import { decidedBy } from "../runtime/decisions.js";
import type { ProvenPerson } from "../runtime/decisions.js";
import { invalidInput } from "../runtime/activity-errors.js";
import type { AnyFlow } from "../runtime/flow.js";
import { waitUntil, waitUntilDue } from "../runtime/waits.js";

export class ContractDialogue {
  readonly #flow: AnyFlow;
  #phase: "before" | "awaited" | "answered" | "past" = "before";
  #accepted: boolean | undefined;

  constructor(flow: AnyFlow) {
    this.#flow = flow;
    flow.lifecycle.onDecision(
      acceptContract,
      "Accept or refuse the contract",
      ["accepted"],
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
    this.#phase = "awaited";
    const isKnown = () => this.#accepted !== undefined;
    const came = await waitUntil(this.#flow, isKnown, {
      what: "the acceptance of the contract",
      end,
      summary: "Time limit for accepting the contract",
    });
    this.#phase = "past";
    if (this.#accepted === true) return true;
    this.#flow.status.ownOutcome = came ? "contractRefused" : "expired";
    return false;
  }

  async #take(accepted: boolean, who: ProvenPerson): Promise<ContractAnswer> {
    await waitUntilDue(() => this.#phase === "awaited" || this.#phase === "past");
    if (this.#phase !== "awaited") return { answer: "notAwaited" };
    this.#phase = "answered";
    this.#accepted = accepted;
    const answer = accepted ? "accepted" : "refused";
    this.#flow.log.add(decidedBy(who, `Contract ${answer}`));
    return { answer };
  }
}
