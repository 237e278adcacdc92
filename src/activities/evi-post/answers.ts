// The answers of a cancellation: what each result and each error of the provider's call means for the caller
// (docs/reading-the-specification.md §2).
import type { CancelAnswer } from "../../contracts/send-postal/messages.js";
import { postalStates } from "../../contracts/send-postal/states.js";
import { EffectAbsentOnce, EffectInFlight, EffectRefused } from "../../journal/errors.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { isUnanswered } from "../evi/affidavit-request.js";
import type { Refusal } from "../runtime/failure.js";

const tooLate = new Set<string>(postalStates.slice(postalStates.indexOf("Dispatched")));

/** What a state says about a cancellation: `Dispatched` or later is too late (P2 §4.1). */
export function cancelAnswerFor(state: string): CancelAnswer | undefined {
  if (state === "Cancelled") return { answer: "cancelled" };
  return tooLate.has(state) ? { answer: "tooLate" } : undefined;
}

/**
 * 403 means that the permission is missing. 401 means that the account is not the owner, if its credentials can still ask.
 * After any other refusal, and without an answer, the item's state decides.
 */
export async function cancelAnswer(
  cancelling: Promise<CancelAnswer>,
  ask: () => Promise<CancelAnswer | undefined>,
): Promise<CancelAnswer> {
  try {
    return await cancelling;
  } catch (error) {
    // The journal has asked already, or another attempt is under way.
    if (error instanceof EffectAbsentOnce || error instanceof EffectInFlight)
      return { answer: "unknown" };
    const refused = error instanceof EffectRefused;
    if (!refused && !(error instanceof ProviderError)) throw error;
    const status = refused ? (error.refusal as Refusal).status : error.status;
    if (status === 403) return { answer: "notPermitted" };
    if (!refused && isUnanswered(error)) return { answer: "unavailable" };
    try {
      const known = await ask();
      return known ?? { answer: status === 401 ? "notOwner" : "unknown" };
    } catch {
      return { answer: "unavailable" };
    }
  }
}
