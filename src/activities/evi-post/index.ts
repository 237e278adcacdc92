// Lists the activities of certified post (P2 §2.1–2.5, §4.1; docs/reading-the-specification.md §1–2, §9).
import { activitiesOf } from "../runtime/activity.js";
import { EviPostContext, provider } from "./context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";
import { submit } from "./submit.js";
import { endStates, postalStates } from "../../contracts/send-postal/states.js";
import { PostalDates } from "../../contracts/send-postal/contract.js";
import { ShownItem } from "../../contracts/shared/status.js";
import { sha256Of } from "../../documents/content.js";
import type { Spool } from "../../documents/spool.js";
import * as eviPost from "../../providers/evi-post/client.js";
import type { PostalItem } from "../../providers/evi-post/client.js";
import { notFoundError } from "../runtime/polling.js";
import type { EviAffidavit, EviAnswer, EviPollRequest, IfUsable } from "../evi/ask.js";
import type { FetchedFile } from "../runtime/documents.js";
import { askItem, byId } from "../evi/ask.js";
import type { PostalAffidavitRequest } from "../../contracts/send-postal/contract.js";
import type { AffidavitAnswer, CancelAnswer } from "../../contracts/send-postal/messages.js";
import { EffectAbsentOnce, EffectInFlight, EffectRefused } from "../../journal/errors.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { affidavitAnswer, isUnanswered } from "../evi/affidavit-request.js";
import type { EviUpdate } from "../evi/affidavit-request.js";
import { runEffect } from "../runtime/effect.js";
import type { Refusal } from "../runtime/failure.js";

export type { PostalSubmitted } from "./submit.js";

export function createEviPostActivities(deps: ProviderDependencies<typeof provider>) {
  const activity = activitiesOf(provider, deps, EviPostContext);
  return {
    submit: activity("submit", submit),
    ask: activity("query", ask),
    cancel: activity("cancel", cancel),
    requestAffidavit: activity("requestAffidavit", requestAffidavit),
  };
}

const datesOnly = PostalDates.strip();
const shownOnly = ShownItem.strip();

export function ask(
  context: EviPostContext,
  request: EviPollRequest,
): Promise<EviAnswer<PostalDates>> {
  const { uniqueId } = request;
  return askItem(context, request, {
    operations: { find: "query", download: "downloadAffidavits" },
    endStates,
    async find() {
      const item = await context.findItem(uniqueId);
      if (!item) return undefined;
      const { state, outcome, affidavits = [] } = item;
      return {
        state,
        outcome,
        dates: datesOnly.parse(item),
        shown: shownOnly.parse(item),
        affidavits: affidavits.map(({ uniqueId: id, date, description }) => ({
          id,
          date,
          description,
        })),
      };
    },
    download: (...asked) =>
      context.account.affidavits.mode === "blobs"
        ? blobs(context, uniqueId)
        : download(context, ...asked),
  });
}

/**
 * P2 §4.1: one ZIP for all. Where there is none that can be used, or its file names hold no id (not shown in §6.3), each id is asked for
 * alone.
 */
async function download(
  context: EviPostContext,
  wanted: EviAffidavit[],
  spool: Spool,
  ifUsable: IfUsable,
): Promise<Map<string, FetchedFile>> {
  const ids = wanted.map(({ id }) => id);
  const ask = (some: string[]) =>
    ifUsable(context.ask("downloadAffidavits", eviPost.downloadAffidavits, some, spool));
  const shown = await ask(ids);
  const found = byId(shown);
  if (ids.length === 1 || shown?.every(({ id }) => id !== undefined)) return found;
  for (const id of ids.filter((one) => !found.has(one)))
    for (const [name, file] of byId(await ask([id]))) found.set(name, file);
  return found;
}

async function blobs(context: EviPostContext, uniqueId: string): Promise<Map<string, FetchedFile>> {
  const asked = { uniqueIds: [uniqueId], includeBlobs: true };
  const { results } = await context.ask("query", eviPost.query, asked);
  const affidavits = results.flatMap((item) => item.affidavits ?? []);
  return new Map(
    affidavits.flatMap(({ uniqueId: id, bytes }) =>
      bytes ? [[id, { sha256: sha256Of(bytes), pieces: () => [bytes] }] as const] : [],
    ),
  );
}

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
      return cancelAnswerFor(item);
    },
  });
  return cancelAnswer(cancelling, async () => {
    const item = await context.findItem(given.uniqueId);
    return item && cancelAnswerFor(item);
  });
}

/** P2 §4.1 AffidavitRequest. */
export function requestAffidavit(
  context: EviPostContext,
  { effect, uniqueId, asked }: EviUpdate & { asked: PostalAffidavitRequest },
): Promise<AffidavitAnswer> {
  const input = { uniqueId, ...asked };
  const requesting = runEffect(context, effect, {
    of: "update",
    operation: "requestAffidavit",
    input,
    send: ({ signal }) => eviPost.requestAffidavit(context.account, input, signal),
  });
  return affidavitAnswer(requesting);
}

const tooLate = new Set<string>(postalStates.slice(postalStates.indexOf("Dispatched")));

/** From `Dispatched` on it is too late (P2 §4.1); what was cancelled may be `Closed` by now (P2 §3.1). */
export function cancelAnswerFor({
  state,
  outcome,
}: Pick<PostalItem, "state" | "outcome">): CancelAnswer | undefined {
  if (state === "Cancelled" || outcome === "Cancelled") return { answer: "cancelled" };
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
