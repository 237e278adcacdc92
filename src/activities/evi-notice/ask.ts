// One poll of a notice: the snapshot, which alone decides (P2 §2.7, §4.2, §6.4).
import * as eviNotice from "../../providers/evi-notice/client.js";
import type { Notice } from "../../providers/evi-notice/client.js";
import { NotChangedYet } from "../runtime/failure.js";
import { isSatisfied } from "../runtime/polling.js";
import type { PollRequest } from "../runtime/polling.js";
import type { EviNoticeContext } from "./context.js";

export interface NoticePollRequest extends PollRequest {
  account: string;
  id: string;
}

export interface NoticeAnswer {
  snapshot: Pick<Notice, "state" | "outcome" | "refusedOn"> & {
    /** The database's clock before the question was sent. */
    stamp: string;
    fingerprint: string;
  };
  affidavitIds: string[];
}

export async function ask(
  context: EviNoticeContext,
  request: NoticePollRequest,
): Promise<NoticeAnswer> {
  const stamp = (await context.deps.journal.now()).toISOString();
  const asked = { id: request.id, includeAffidavits: true };
  const notice = await context.throughCircuit("get", (signal) =>
    eviNotice.get(context.account, asked, signal),
  );
  const { state, outcome, refusedOn, affidavits = [] } = notice;
  const affidavitIds = affidavits.map(({ id }) => id);
  const fingerprint = [state, outcome, ...affidavitIds.toSorted()].join(" ");
  if (!isSatisfied(request, fingerprint, state === "Closed")) throw new NotChangedYet();
  return {
    snapshot: {
      stamp,
      state,
      fingerprint,
      ...(outcome === undefined ? {} : { outcome }),
      ...(refusedOn === undefined ? {} : { refusedOn }),
    },
    affidavitIds,
  };
}
