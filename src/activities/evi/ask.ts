// One poll of a communication, the same for certified post and notices: the snapshot, which alone decides, and the affidavits
// that are not stored yet (P2 §2.5, §2.7, §4.1, §4.2, §6.4).
import type { ProcessDocument, ShownItem } from "../../contracts/shared/status.js";
import type { Spool } from "../../documents/spool.js";
import type { AffidavitFile } from "../../providers/evi/affidavit-zip.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { Operation, Provider } from "../../providers/registry.js";
import { NotChangedYet } from "../runtime/failure.js";
import { isOtherAnswer, isSatisfied, notFoundError, unless } from "../runtime/polling.js";
import type { PollRequest } from "../runtime/polling.js";
import type { ProviderContext } from "../runtime/provider-context.js";
import { keepFile } from "../runtime/documents.js";
import type { FetchedFile } from "../runtime/documents.js";

export interface EviPollRequest extends PollRequest {
  account: string;
  uniqueId: string;
  submittedAt: string;
  /** Provider ids of affidavits that are stored; left out of the download unless `refetch`. */
  stored: string[];
  refetch: boolean;
}

export interface EviSnapshot<Dates = Record<string, string | undefined>> {
  /** The database's clock before the question was sent. */
  stamp: string;
  state: string;
  outcome?: string | undefined;
  dates: Dates;
  /** No change of it alone is waited for. */
  shown?: ShownItem | undefined;
  fingerprint: string;
}

export interface EviAnswer<Dates> {
  snapshot: EviSnapshot<Dates>;
  documents: ProcessDocument[];
  /** How many listed affidavits could not be fetched: tracking does not wait for them. */
  missing: number;
}

export interface FoundItem<Dates> {
  state: string;
  outcome?: string | undefined;
  dates: Dates;
  shown: ShownItem;
  affidavits: EviAffidavit[];
}

export interface AskedService<P extends Provider, Dates> {
  /** Errors of `find` and `download` name them. */
  operations: { find: Operation<P>; download: Operation<P> };
  endStates: ReadonlySet<string>;
  find(): Promise<FoundItem<Dates> | undefined>;
  download: AffidavitDownload;
}

export async function askItem<P extends Provider, Dates>(
  context: ProviderContext<P>,
  request: EviPollRequest,
  { operations, endStates, find, download }: AskedService<P, Dates>,
): Promise<EviAnswer<Dates>> {
  const { uniqueId, stored, refetch } = request;
  const stamp = await context.stamp();
  const item = await find();
  if (!item) {
    // An id that was just given may not be visible yet (docs/reading-the-specification.md §1).
    const isNew = Date.now() - Date.parse(request.submittedAt) < context.deps.invisibleForMs;
    const problem = "the communication is not in the answer";
    throw context.problem(operations.find, problem, isNew ? "notVisibleYet" : "protocol");
  }
  const { state, outcome, dates, shown, affidavits } = item;
  const ids = affidavits.map(({ id }) => id);
  const fingerprint = [state, outcome, ...ids.toSorted()].join(" ");
  if (!isSatisfied(request, fingerprint, endStates.has(state))) throw new NotChangedYet();
  const wanted = affidavits.filter(({ id }) => refetch || !stored.includes(id));
  let refusal: ProviderError | undefined;
  const ifUsable: IfUsable = (downloading) =>
    unless((error) => {
      const isNone = isOtherAnswer(error) || error.kind === "notVisibleYet";
      if (isNone) refusal = error;
      return isNone;
    }, downloading);
  const keep = () =>
    keepAffidavits(context, uniqueId, wanted, (spool) => download(wanted, spool, ifUsable));
  const documents = request.wait === "affidavits" ? await keep() : await keptInTime(context, keep);
  const known = new Set([...stored, ...documents.map((document) => document.uniqueId)]);
  const missing = wanted.filter(({ id }) => !known.has(id)).length;
  if (request.wait === "affidavits" && missing > 0) {
    if (refusal && isOtherAnswer(refusal)) throw refusal;
    const answered = refusal ? `answered ${refusal.status}: ` : "";
    const problem = `${answered}a listed affidavit is not in the download`;
    throw notFoundError(context, operations.download, problem);
  }
  const more = Object.keys(shown).length > 0 ? shown : undefined;
  const snapshot = { stamp, state, fingerprint, dates, outcome, shown: more };
  return { snapshot, documents, missing };
}

/** A download may be as slow as it likes; the state that was read does not wait for it until the attempt is cut. */
const MAX_DOWNLOAD_MS = 60_000;

async function keptInTime<P extends Provider>(
  context: ProviderContext<P>,
  keep: () => Promise<ProcessDocument[]>,
): Promise<ProcessDocument[]> {
  try {
    return await context.within(MAX_DOWNLOAD_MS, keep);
  } catch (error) {
    if (error instanceof ProviderError) return [];
    throw error;
  }
}

export interface EviAffidavit {
  id: string;
  date?: string | undefined;
  description?: string | undefined;
}

/** Undefined for a 404 and for an answer that is no affidavit, which keep no other one from being kept. */
export type IfUsable = <T>(downloading: Promise<T>) => Promise<T | undefined>;

/** The files by the id of their affidavit, without those that name none. */
export const byId = (files: readonly AffidavitFile[] = []) =>
  new Map<string, FetchedFile>(
    files.flatMap(({ id, ...file }) => (id === undefined ? [] : [[id, file] as const])),
  );

/** The PDFs by the id of their affidavit, as far as the provider has them. What is downloaded goes into the spool. */
export type AffidavitDownload = (
  wanted: EviAffidavit[],
  spool: Spool,
  ifUsable: IfUsable,
) => Promise<Map<string, FetchedFile>>;

/**
 * Fetched from the provider and kept under our own hash (P2 §6.3; docs/reading-the-specification.md §2). One download for all; then the
 * files are stored one at a time, because each may be large. An affidavit that the answer does not hold yet is left out; a later poll asks
 * for it again.
 */
export async function keepAffidavits<P extends Provider>(
  context: ProviderContext<P>,
  uniqueId: string,
  wanted: EviAffidavit[],
  download: (spool: Spool) => ReturnType<AffidavitDownload>,
): Promise<ProcessDocument[]> {
  if (wanted.length === 0) return [];
  return context.deps.documents.withSpool(async (spool) => {
    const files = await download(spool);
    const kept: ProcessDocument[] = [];
    for (const { id, date, description } of wanted) {
      const file = files.get(id);
      if (!file) continue;
      const ids = [uniqueId, id];
      const target = { kind: "affidavit", ids, mediaType: "application/pdf" } as const;
      const stored = await keepFile(context, target, file);
      kept.push({ ...stored, uniqueId: id, date, description });
    }
    return kept;
  });
}
