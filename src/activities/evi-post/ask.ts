// One poll of a communication: the snapshot, which alone decides, and the affidavits that are not stored yet (P2 §2.5, §4.1
// Query, §6.4).
import { endStates } from "../../contracts/send-postal/states.js";
import { PostalDates } from "../../contracts/send-postal.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { NotChangedYet } from "../runtime/failure.js";
import { isSatisfied, notFoundError } from "../runtime/polling.js";
import type { PollRequest } from "../runtime/polling.js";
import { fetchAffidavits } from "./affidavits.js";
import { provider } from "./context.js";
import type { EviPostContext } from "./context.js";

export interface PostalPollRequest extends PollRequest {
  account: string;
  uniqueId: string;
  submittedAt: string;
  /** Provider ids of affidavits that are stored; left out of the download unless `refetch`. */
  stored: string[];
  refetch: boolean;
}

export interface PostalAnswer {
  snapshot: {
    /** The database's clock before the question was sent. */
    stamp: string;
    state: string;
    outcome?: string;
    dates: PostalDates;
    fingerprint: string;
  };
  documents: ProcessDocument[];
  /** How many listed affidavits could not be fetched: tracking does not wait for them. */
  missing: number;
}

const datesOnly = PostalDates.strip();

export async function ask(
  context: EviPostContext,
  request: PostalPollRequest,
): Promise<PostalAnswer> {
  const { uniqueId, stored, refetch } = request;
  const stamp = (await context.deps.journal.now()).toISOString();
  const item = await context.findItem(uniqueId);
  if (!item) throw invisible(context, request);
  const { state, outcome, affidavits = [] } = item;
  const ids = affidavits.map((affidavit) => affidavit.uniqueId);
  const fingerprint = [state, outcome, ...ids.toSorted()].join(" ");
  if (!isSatisfied(request, fingerprint, endStates.has(state))) throw new NotChangedYet();
  const wanted = affidavits.filter((one) => refetch || !stored.includes(one.uniqueId));
  const fetched = await fetchAffidavits(context, { uniqueId, wanted }).catch((error: unknown) => {
    if (request.wait !== "affidavits" && error instanceof ProviderError) return [];
    throw error;
  });
  const missing = wanted.length - fetched.length;
  if (request.wait === "affidavits" && missing > 0)
    throw notFoundError(
      provider,
      "downloadAffidavits",
      "a listed affidavit is not in the download",
    );
  return {
    snapshot: {
      stamp,
      state,
      fingerprint,
      dates: datesOnly.parse(item),
      ...(outcome === undefined ? {} : { outcome }),
    },
    documents: fetched,
    missing,
  };
}

/** docs/reading-the-specification.md §1: an id that was just given may not be visible yet. */
function invisible({ deps }: EviPostContext, { submittedAt }: PostalPollRequest): ProviderError {
  const isNew = Date.now() - Date.parse(submittedAt) < deps.invisibleForMs;
  return new ProviderError({
    kind: isNew ? "notVisibleYet" : "protocol",
    provider,
    operation: "query",
    effect: "none",
    problem: "the communication is not in the answer",
  });
}
