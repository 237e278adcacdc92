// The own calls of updates: they go past the circuit, and what goes wrong is the update's answer (P2 §4.1;
// docs/reading-the-specification.md §2, §9).
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/shared/messages.js";
import type { PostalAffidavitRequest } from "../../contracts/send-postal.js";
import type { EffectReference } from "../runtime/effect.js";
import { affidavitRefused, cancelRefused, standing } from "./answers.js";
import { notThere } from "../runtime/polling.js";
import { eviPost, provider } from "./context.js";
import type { PostOffice } from "./context.js";

interface OwnCall {
  effect: EffectReference;
  account: string;
  uniqueId: string;
}

/** P2 §4.1 Cancel. */
export function cancel(office: PostOffice, call: OwnCall): Promise<CancelAnswer> {
  const { effect, uniqueId } = call;
  return office.run("cancel", call.account, "quick", async (account) => {
    const lookUp = async (): Promise<CancelAnswer | undefined> => {
      const item = await office.findItem(account, uniqueId);
      return item && standing(item.state);
    };
    const input = { uniqueId };
    try {
      return await office.effect<CancelAnswer>(
        account,
        { ...own(effect), operation: "cancel", input },
        {
          send: async ({ signal }) => {
            await eviPost.cancel(account, input, signal);
            return { answer: "cancelled" };
          },
          // The item is asked for by the id that the provider gave it; one that it does not show (yet) proves nothing.
          lookUp: async () => {
            const item = await office.findItem(account, uniqueId);
            if (!item) throw notThere(provider, "query", "the communication is not in the answer");
            return standing(item.state);
          },
        },
      );
    } catch (error) {
      return cancelRefused(error, lookUp);
    }
  });
}

/** P2 §4.1 AffidavitRequest: no token and nobody to ask, so a lost answer is `unknown`. */
export function requestAffidavit(
  office: PostOffice,
  call: OwnCall & { asked: PostalAffidavitRequest },
): Promise<AffidavitAnswer> {
  const { effect, uniqueId, asked } = call;
  return office.run("requestAffidavit", call.account, "quick", async (account) => {
    const input = { uniqueId, ...asked };
    try {
      const { requestId } = await office.effect(
        account,
        { ...own(effect), operation: "requestAffidavit", input },
        { send: ({ signal }) => eviPost.requestAffidavit(account, input, signal) },
      );
      return { answer: "requested", requestId };
    } catch (error) {
      return affidavitRefused(error);
    }
  });
}

function own(reference: EffectReference) {
  return { reference, mode: "quick" } as const;
}
