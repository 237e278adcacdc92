// The calls of a postal process's updates; an error becomes the update's answer (P2 §4.1;
// docs/reading-the-specification.md §2, §9).
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/send-postal/messages.js";
import type { PostalAffidavitRequest } from "../../contracts/send-postal/contract.js";
import * as eviPost from "../../providers/evi-post/client.js";
import { requestOnce } from "../evi/affidavit-request.js";
import type { EviUpdate } from "../evi/affidavit-request.js";
import { runEffect } from "../runtime/effect.js";
import { notFoundError } from "../runtime/polling.js";
import { cancelAnswer, cancelAnswerFor } from "./answers.js";
import { provider } from "./context.js";
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
      if (!item) throw notFoundError(provider, "query", "the communication is not in the answer");
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
