// Makes the calls of the updates of `sendPostal`; each result and each error becomes the update's answer (P2 §4.1;
// docs/reading-the-specification.md §2, §9).
import * as eviPost from "../../providers/evi-post/client.js";
import type { PostalAffidavitRequest } from "../../contracts/send-postal/contract.js";
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/send-postal/messages.js";
import { postalStates } from "../../contracts/send-postal/states.js";
import { EffectAbsentOnce, EffectInFlight, EffectRefused } from "../../journal/errors.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { isUnanswered, requestOnce } from "../evi/affidavit-request.js";
import type { EviUpdate } from "../evi/affidavit-request.js";
import { runEffect } from "../runtime/effect.js";
import type { Refusal } from "../runtime/failure.js";
import { notFoundError } from "../runtime/polling.js";
import type { EviPostContext } from "./context.js";

/** P2 §4.1 Cancel. */
export function cancel(context: EviPostContext, given: EviUpdate): Promise<CancelAnswer> {
  const input = { uniqueId: given.uniqueId };
  const cancelling = runEffect(context, given.effect, {
    of: "update",
    operation: "cancel",
    input,
    async send({ signal }): Promise<CancelAnswer> {
      await eviPost.cancel(context.account, input, signal);
      return { answer: "cancelled" };
    },
    async lookUp() {
      const item = await context.findItem(given.uniqueId);
      // The provider gave this id: that it does not show the item (yet) proves nothing.
      if (!item) throw notFoundError(context, "query", "the communication is not in the answer");
      return cancelAnswerFor(item.state);
    },
  });
  return cancelAnswer(cancelling, async () => {
    const item = await context.findItem(given.uniqueId);
    return item && cancelAnswerFor(item.state);
  });
}

/** P2 §4.1 AffidavitRequest. */
export function requestAffidavit(
  context: EviPostContext,
  given: EviUpdate & { asked: PostalAffidavitRequest },
): Promise<AffidavitAnswer> {
  const input = { uniqueId: given.uniqueId, ...given.asked };
  return requestOnce(context, given, {
    operation: "requestAffidavit",
    input,
    send: (signal) => eviPost.requestAffidavit(context.account, input, signal),
  });
}

const tooLate = new Set<string>(postalStates.slice(postalStates.indexOf("Dispatched")));

/** From `Dispatched` on it is too late (P2 §4.1). */
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
