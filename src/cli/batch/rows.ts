// Reads what is known of the recipients of a batch while it runs: its notices from the database, its list from the document store.
import { loadWithAccounts } from "../../providers/accounts.js";
import { ringOf } from "../../config/config.js";
import { BatchItems } from "../../batch/items/items.js";
import type { BatchItem, ProcessKey } from "../../batch/items/items.js";
import { knownOf, wordOf } from "../../batch/items/shown.js";
import { CallbackArchive } from "../../callbacks/inbox/archive.js";
import type { SendNoticeBatchInput } from "../../contracts/processes.js";
import { contractOf, parseWorkflowId, processes } from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import { workflowIdOf } from "../../contracts/shared/names.js";
import type { EventAbout } from "../../contracts/shared/provider-event.js";
import { count, parseJson } from "../../contracts/shared/text.js";
import { DocumentReference } from "../../contracts/shared/values.js";
import { readingRing } from "../../config/payload-keys.js";
import { parseCallback } from "../../providers/evi-notice/callback.js";
import { listedRows } from "../../batch/recipients/list-lines.js";
import type { Pieces } from "../../batch/recipients/list-reader.js";
import { reasonOf } from "../../batch/recipients/reason.js";
import type { ReportRow } from "../../batch/recipients/report.js";
import { temporalSettings } from "../../roles/temporal.js";
import { documentStoreOf } from "../../config/document-store.js";
import { withDatabase, withTrustflow } from "../context.js";
import { CommandError, exitCodes, usageError } from "../output/exit.js";
import { terminal } from "../output/terminal.js";
import type { Terminal } from "../output/terminal.js";

const PAGE = 1_000;

export interface KnownNotices {
  readonly key: ProcessKey;
  readonly items: BatchItems;
  readonly recipients: number;
  /** Returns what a callback says about the reader; undefined where the body is deleted. Throws without the private keys of the inbox. */
  aboutIn(callback: string): Promise<EventAbout | undefined>;
}

/** `id` is the business id of a batch, with its process or without. */
export async function withNotices<T>(
  id: string,
  work: (known: KnownNotices) => Promise<T>,
): Promise<T> {
  const workflowId = batchIdOf(id);
  const { namespace } = await temporalSettings();
  return withDatabase(async (pool, config) => {
    const items = new BatchItems(pool);
    const key = { namespace, workflowId };
    const sweep = await items.sweep(key);
    if (!sweep)
      throw new CommandError(
        exitCodes.unknownId,
        `${workflowId} has no notices here: it does not exist, is not set up yet, or is past its retention`,
      );
    const archive = new CallbackArchive(pool);
    const aboutIn = async (callback: string) => {
      const { body } = (await archive.show(callback, ringOf(config, "inbox"))) ?? {};
      return body === undefined ? undefined : parseCallback(parseJson(body)).event.about;
    };
    return work({ key, items, recipients: sweep.recipients, aboutIn });
  });
}

export function batchIdOf(id: string): string {
  const isBatch = (name: ProcessName) => contractOf(name).items !== undefined;
  const isWhole = id.includes("/");
  const name = isWhole ? parseWorkflowId(id)?.process : processes.find(isBatch);
  if (name && isBatch(name)) return isWhole ? id : workflowIdOf(name, id);
  throw usageError(`${id} is no batch of notices`);
}

export interface NoticeFilter {
  state?: string;
  outcome?: string;
  open?: boolean;
}

const isWord = (word: string) => (said: string | undefined) =>
  said?.toLowerCase() === word.toLowerCase();

/** The notices come in the order of their ids. `state`: that of the notice, or its word in the totals. */
export async function* noticesOf(
  { items, key }: Pick<KnownNotices, "items" | "key">,
  { state, outcome, open }: NoticeFilter = {},
): AsyncGenerator<BatchItem> {
  let after: string | undefined;
  for (;;) {
    const page = await items.page(key, {
      limit: PAGE,
      ...(open && { isOpen: true }),
      ...(after !== undefined && { after }),
    });
    for (const item of page)
      if (
        (state === undefined || [wordOf(item), item.state].some(isWord(state))) &&
        (outcome === undefined || isWord(outcome)(item.outcome))
      )
        yield item;
    after = page.at(-1)?.evidenceId;
    if (page.length < PAGE) return;
  }
}

/** Until the provider lists the recipients by lookup keys of ours, it says of no notice whose it is. */
export interface NoticesByLine {
  readonly byLine: ReadonlyMap<number, BatchItem>;
  readonly withoutLine: readonly BatchItem[];
}

export async function noticesByLine(notices: AsyncIterable<BatchItem>): Promise<NoticesByLine> {
  const byLine = new Map<number, BatchItem>();
  const withoutLine: BatchItem[] = [];
  for await (const notice of notices) {
    if (notice.line === undefined) withoutLine.push(notice);
    else byLine.set(notice.line, notice);
  }
  return { byLine, withoutLine };
}

export function withoutLineNote(total: number): Terminal {
  return terminal`The provider has not yet said which recipients these notices belong to: ${count(total)}`;
}

/** The caller's list, which was accepted. */
export interface GivenList {
  readonly pieces: Pieces;
  readonly unique: NonNullable<SendNoticeBatchInput["uniqueRecipients"]>;
}

/** Each row of the list, in its order, with its notice or why it has none. */
export async function* recipientRows(
  { pieces, unique }: GivenList,
  { byLine }: NoticesByLine,
): AsyncGenerator<ReportRow> {
  for await (const { address = "", problem, ...row } of listedRows(pieces, unique)) {
    const notice = byLine.get(row.line);
    const known = notice && problem === undefined && noticeRow(notice);
    const without = problem ?? "no notice of the recipient is known yet";
    const about = known
      ? { ...known, ...reasonOf(known) }
      : { reason: without, source: "list" as const };
    yield { address, ...row, ...about };
  }
}

/** The row lacks the recipient: the database knows only the line. */
export function noticeRow({ evidenceId, line, ...known }: BatchItem): Omit<ReportRow, "address"> {
  return {
    ...(line !== undefined && { line }),
    evidenceUniqueId: evidenceId,
    ...knownOf(known),
  };
}

export async function givenList(workflowId: string): Promise<GivenList> {
  const [{ EncryptionCodec }, { firstInput }] = await Promise.all([
    import("../../temporal/codec/codec.js"),
    import("../../temporal/visibility/first-input.js"),
  ]);
  const config = loadWithAccounts();
  const { recipients, uniqueRecipients: unique = "address" } = (await withTrustflow(
    ({ temporal }) => firstInput(temporal, new EncryptionCodec(readingRing(config)), workflowId),
  )) as SendNoticeBatchInput;
  return { pieces: documentStoreOf(config).openRead(DocumentReference.parse(recipients)), unique };
}
