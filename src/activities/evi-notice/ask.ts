// One poll of a notice (P2 §2.7, §4.2 Get and Downloads).
import { noticeEndStates } from "../../contracts/send-notice/states.js";
import type { NoticeDates } from "../../contracts/send-notice/contract.js";
import { ShownItem } from "../../contracts/shared/status.js";
import type { Spool } from "../../documents/spool.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import { whenVisible } from "../runtime/polling.js";
import type { EviAffidavit, EviAnswer, EviPollRequest } from "../evi/ask.js";
import type { FetchedFile } from "../runtime/documents.js";
import { askItem } from "../evi/ask.js";
import type { EviNoticeContext } from "./context.js";

const shownOnly = ShownItem.strip();

export function ask(
  context: EviNoticeContext,
  request: EviPollRequest,
): Promise<EviAnswer<NoticeDates>> {
  const { uniqueId } = request;
  return askItem(context, request, {
    operations: { find: "get", download: "downloadAffidavits" },
    endStates: noticeEndStates,
    async find() {
      const notice = await context.findNotice(uniqueId);
      if (!notice) return undefined;
      const { state, outcome, refusedOn, affidavits = [] } = notice;
      const dates = refusedOn === undefined ? {} : { refusedOn };
      return { state, outcome, affidavits, dates, shown: shownOnly.parse(notice) };
    },
    download: (wanted, spool) => download(context, { uniqueId, wanted }, spool),
  });
}

interface Fetch {
  uniqueId: string;
  wanted: EviAffidavit[];
}

/** A ZIP of all for several; one alone, and one that the ZIP does not show by its id, by the id. */
async function download(
  context: EviNoticeContext,
  fetch: Fetch,
  spool: Spool,
): Promise<Map<string, FetchedFile>> {
  const found =
    fetch.wanted.length > 1
      ? await downloadAll(context, fetch, spool)
      : new Map<string, FetchedFile>();
  for (const { id: affidavitId } of fetch.wanted) {
    if (found.has(affidavitId)) continue;
    const downloading = context.throughCircuit("downloadAffidavit", (signal) =>
      eviNotice.downloadAffidavit(context.account, { affidavitId }, spool, signal),
    );
    const file = await whenVisible(downloading);
    if (file) found.set(affidavitId, file);
  }
  return found;
}

async function downloadAll(
  context: EviNoticeContext,
  { uniqueId: id, wanted }: Fetch,
  spool: Spool,
): Promise<Map<string, FetchedFile>> {
  const affidavitIds = wanted.map((affidavit) => affidavit.id);
  const downloading = context.throughCircuit("downloadAffidavits", (signal) =>
    eviNotice.downloadAffidavits(context.account, { id, affidavitIds }, spool, signal),
  );
  const files = (await whenVisible(downloading)) ?? [];
  return new Map(
    files.flatMap(({ id: of, ...file }) => (of === undefined ? [] : [[of, file] as const])),
  );
}
