// Lists the activities of certified notices (P2 §2.6–2.7, §4.2; docs/reading-the-specification.md §1, §3).
import * as eviNotice from "../../providers/evi-notice/client.js";
import type { NoticeAffidavitRequest, NoticeDates } from "../../contracts/send-notice/contract.js";
import type { NoticeAffidavitAnswer } from "../../contracts/send-notice/messages.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import { affidavitAnswer } from "../evi/affidavit-request.js";
import type { EviUpdate } from "../evi/affidavit-request.js";
import { keepFile } from "../runtime/documents.js";
import { runEffect } from "../runtime/effect.js";
import { activitiesOf } from "../runtime/activity.js";
import type { AttemptMode } from "../runtime/failure.js";
import { EviNoticeContext, provider } from "./context.js";
import type { ProviderDependencies } from "../runtime/provider-context.js";
import type { SentAttachment } from "./submit.js";
import { submit } from "./submit.js";
import { noticeEndStates } from "../../contracts/send-notice/states.js";
import { ShownItem } from "../../contracts/shared/status.js";
import type { Spool } from "../../documents/spool.js";
import type { EviAffidavit, EviAnswer, EviPollRequest, IfUsable } from "../evi/ask.js";
import type { FetchedFile } from "../runtime/documents.js";
import { askItem, byId } from "../evi/ask.js";

export type { NoticeSubmitted } from "./submit.js";

export function createEviNoticeActivities(deps: ProviderDependencies<typeof provider>) {
  const activity = activitiesOf(provider, deps, EviNoticeContext);
  return {
    submit: activity("submit", submit),
    ask: activity("get", ask),
    attachments: activity("downloadAttachments", attachments),
    requestAffidavit: activity("requestAffidavit", requestAffidavit),
  };
}

export interface AttachmentsAnswer {
  documents: ProcessDocument[];
  /** The names of submitted attachments that the provider does not have with the same content. */
  missing: string[];
}

/** As the provider has them, once the notice is closed: kept, and compared with those that were submitted (P2 §4.2 Downloads). */
export function attachments(
  context: EviNoticeContext,
  {
    uniqueId,
    submitted,
  }: {
    account: string;
    uniqueId: string;
    submitted: SentAttachment[];
    mode: AttemptMode;
  },
): Promise<AttachmentsAnswer> {
  return context.deps.documents.withSpool(async (spool) => {
    const files = await context.throughCircuit("downloadAttachments", (signal) =>
      eviNotice.downloadAttachments(context.account, { id: uniqueId }, spool, signal),
    );
    const left = [...submitted];
    const documents: ProcessDocument[] = [];
    for (const file of files.filter(({ size }) => size > 0)) {
      const at = left.findIndex(({ document }) => document.sha256 === file.sha256);
      const [same] = at === -1 ? [] : left.splice(at, 1);
      const name = same?.fileName ?? file.fileName;
      const mediaType = same?.document.mediaType ?? "application/octet-stream";
      const target = {
        kind: "attachment",
        ids: [uniqueId, "attachment", name],
        mediaType,
      } as const;
      documents.push({ ...(await keepFile(context, target, file)), description: name });
    }
    return { documents, missing: left.map(({ fileName }) => fileName) };
  });
}

/** P2 §4.2: the two statuses that say why there is none. */
export const affidavitRefusals = { 403: "limitReached", 405: "notEligible" } as const;

/** P2 §4.2 On-demand affidavit; docs/reading-the-specification.md §3, §9. */
export function requestAffidavit(
  context: EviNoticeContext,
  { effect, uniqueId, asked }: EviUpdate & { asked: NoticeAffidavitRequest },
): Promise<NoticeAffidavitAnswer> {
  const requesting = runEffect(context, effect, {
    of: "update",
    operation: "requestAffidavit",
    input: { uniqueId, ...asked },
    send: ({ signal }) =>
      eviNotice.requestAffidavit(context.account, { id: uniqueId, ...asked }, signal),
  });
  return affidavitAnswer(requesting, affidavitRefusals);
}

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
    download: (...asked) => download(context, uniqueId, ...asked),
  });
}

/** A ZIP of all for several; one alone, and one that no usable ZIP shows by its id, by the id. */
async function download(
  context: EviNoticeContext,
  uniqueId: string,
  wanted: EviAffidavit[],
  spool: Spool,
  ifUsable: IfUsable,
): Promise<Map<string, FetchedFile>> {
  const ids = wanted.map(({ id }) => id);
  const downloadAll = () =>
    context.throughCircuit("downloadAffidavits", (signal) => {
      const asked = { id: uniqueId, affidavitIds: ids };
      return eviNotice.downloadAffidavits(context.account, asked, spool, signal);
    });
  const found = byId(ids.length > 1 ? await ifUsable(downloadAll()) : []);
  for (const affidavitId of ids) {
    if (found.has(affidavitId)) continue;
    const downloading = context.throughCircuit("downloadAffidavit", (signal) =>
      eviNotice.downloadAffidavit(context.account, { affidavitId }, spool, signal),
    );
    const file = await ifUsable(downloading);
    if (file) found.set(affidavitId, file);
  }
  return found;
}
