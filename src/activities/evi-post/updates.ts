// The calls of a postal process's updates; an error becomes the update's answer (P2 §4.1;
// docs/reading-the-specification.md §2, §9).
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/send-postal/messages.js";
import type { PostalAffidavitRequest } from "../../contracts/send-postal.js";
import * as eviPost from "../../providers/evi-post/client.js";
import type { UpdateCall } from "../runtime/activity.js";
import { runEffect } from "../runtime/effect.js";
import { notFoundError } from "../runtime/polling.js";
import { affidavitAnswer, cancelAnswer, cancelAnswerFor } from "./answers.js";
import { provider } from "./context.js";
import type { EviPostContext } from "./context.js";

export interface PostalUpdate extends UpdateCall {
  account: string;
  uniqueId: string;
}

/** P2 §4.1 Cancel. */
export function cancel(context: EviPostContext, given: PostalUpdate): Promise<CancelAnswer> {
  const input = { uniqueId: given.uniqueId };
  const cancelling = runEffect(
    context,
    given.effect,
    {
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
    },
    { of: "update" },
  );
  return cancelAnswer(cancelling, async () => {
    const item = await context.findItem(given.uniqueId);
    return item && cancelAnswerFor(item.state);
  });
}

/** P2 §4.1 AffidavitRequest. It has neither a token nor a look-up, so after a lost answer it is `unknown`. */
export function requestAffidavit(
  context: EviPostContext,
  given: PostalUpdate & { asked: PostalAffidavitRequest },
): Promise<AffidavitAnswer> {
  const input = { uniqueId: given.uniqueId, ...given.asked };
  const requesting = runEffect(
    context,
    given.effect,
    {
      operation: "requestAffidavit",
      input,
      send: ({ signal }) => eviPost.requestAffidavit(context.account, input, signal),
    },
    { of: "update" },
  );
  return affidavitAnswer(requesting);
}
