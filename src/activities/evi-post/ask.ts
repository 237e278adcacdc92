// One poll of a postal communication (P2 §2.5, §4.1 Query).
import { endStates } from "../../contracts/send-postal/states.js";
import { PostalDates } from "../../contracts/send-postal/contract.js";
import { ShownItem } from "../../contracts/shared/status.js";
import { sha256Of } from "../../documents/content.js";
import type { Spool } from "../../documents/spool.js";
import * as eviPost from "../../providers/evi-post/client.js";
import { whenVisible } from "../runtime/polling.js";
import type { EviAffidavit, EviAnswer, EviPollRequest } from "../evi/ask.js";
import type { FetchedFile } from "../runtime/documents.js";
import { askItem } from "../evi/ask.js";
import type { EviPostContext } from "./context.js";

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
    download: (wanted, spool) =>
      context.account.affidavits.mode === "blobs"
        ? blobs(context, uniqueId)
        : download(context, wanted, spool),
  });
}

/** P2 §4.1: one ZIP for all; its only file belongs to the only id. */
async function download(
  context: EviPostContext,
  wanted: EviAffidavit[],
  spool: Spool,
): Promise<Map<string, FetchedFile>> {
  const ids = wanted.map(({ id }) => id);
  const downloading = context.throughCircuit("downloadAffidavits", (signal) =>
    eviPost.downloadAffidavits(context.account, ids, spool, signal),
  );
  const files = (await whenVisible(downloading)) ?? [];
  const only = ids.length === 1 && files.length === 1 ? ids[0] : undefined;
  return new Map(
    files.flatMap(({ id = only, ...file }) => (id === undefined ? [] : [[id, file] as const])),
  );
}

async function blobs(context: EviPostContext, uniqueId: string): Promise<Map<string, FetchedFile>> {
  const asked = { uniqueIds: [uniqueId], includeBlobs: true };
  const { results } = await context.throughCircuit("query", (signal) =>
    eviPost.query(context.account, asked, signal),
  );
  const affidavits = results.flatMap((item) => item.affidavits ?? []);
  return new Map(
    affidavits.flatMap(({ uniqueId: id, bytes }) =>
      bytes ? [[id, { sha256: sha256Of(bytes), pieces: () => [bytes] }] as const] : [],
    ),
  );
}
