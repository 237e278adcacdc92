// One poll of a notice (P2 §2.7, §4.2 Get and Downloads).
import { noticeEndStates } from "../../contracts/send-notice/states.js";
import type { NoticeDates } from "../../contracts/send-notice.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import { whenVisible } from "../evi/affidavits.js";
import type { EviAffidavit } from "../evi/affidavits.js";
import { askItem } from "../evi/ask.js";
import type { EviAnswer, EviPollRequest } from "../evi/ask.js";
import type { EviNoticeContext } from "./context.js";

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
      return { state, outcome, affidavits, dates: refusedOn === undefined ? {} : { refusedOn } };
    },
    download: (wanted) => download(context, uniqueId, wanted),
  });
}

/** A ZIP of all for several; one alone, and one that the ZIP does not show by its id, by the id. */
async function download(
  context: EviNoticeContext,
  id: string,
  wanted: EviAffidavit[],
): Promise<Map<string, Buffer>> {
  const found =
    wanted.length > 1 ? await downloadAll(context, id, wanted) : new Map<string, Buffer>();
  for (const { id: affidavitId } of wanted) {
    if (found.has(affidavitId)) continue;
    const downloading = context.throughCircuit("downloadAffidavit", (signal) =>
      eviNotice.downloadAffidavit(context.account, { affidavitId }, signal),
    );
    const bytes = await whenVisible<Buffer | undefined>(downloading, undefined);
    if (bytes) found.set(affidavitId, bytes);
  }
  return found;
}

async function downloadAll(
  context: EviNoticeContext,
  id: string,
  wanted: EviAffidavit[],
): Promise<Map<string, Buffer>> {
  const affidavitIds = wanted.map((affidavit) => affidavit.id);
  const downloading = context.throughCircuit("downloadAffidavits", (signal) =>
    eviNotice.downloadAffidavits(context.account, { id, affidavitIds }, signal),
  );
  const files = await whenVisible(downloading, []);
  return new Map(
    files.flatMap(({ id: of, bytes }) => (of === undefined ? [] : [[of, bytes] as const])),
  );
}
