// What is known of the recipients of a batch while it runs: its notices from the database, and its list from the document store.
import { loadConfig } from "../../config.js";
import type { Config } from "../../config.js";
import { BatchItems } from "../../batches/items.js";
import type { BatchItem, ProcessKey } from "../../batches/items.js";
import { camelCase, knownOf, wordOf } from "../../batches/shown.js";
import type { SendNoticeBatchInput } from "../../contracts/send-notice-batch.js";
import { parseWorkflowId } from "../../contracts/registry.js";
import { workflowIdOf } from "../../contracts/shared/names.js";
import { DocumentReference } from "../../contracts/shared/values.js";
import { readingRing } from "../../payload-keys.js";
import { readHeader, recipientIn } from "../../recipients/columns.js";
import type { Columns } from "../../recipients/columns.js";
import { openList } from "../../recipients/list-reader.js";
import type { Pieces } from "../../recipients/list-reader.js";
import type { ReportRow } from "../../recipients/report.js";
import { temporalSettings } from "../../roles/temporal.js";
import { EncryptionCodec } from "../../temporal/codec/codec.js";
import { firstInput } from "../../temporal/visibility/first-input.js";
import { withDatabase, withTrustflow } from "../context.js";
import { documentStoreOf } from "../document-store.js";
import { CommandError, exitCodes } from "../output/exit.js";

const PAGE = 1_000;

/** The notices of one batch. */
export interface KnownNotices {
  readonly key: ProcessKey;
  readonly items: BatchItems;
  readonly recipients: number;
}

/** `id` is the business id of a batch, with its process or without. */
export async function withNotices<T>(
  id: string,
  work: (known: KnownNotices) => Promise<T>,
): Promise<T> {
  const workflowId = batchIdOf(id);
  const { namespace } = await temporalSettings();
  return withDatabase(async (pool) => {
    const items = new BatchItems(pool);
    const key = { namespace, workflowId };
    const sweep = await items.sweep(key);
    if (!sweep)
      throw new CommandError(
        exitCodes.unknownId,
        `${workflowId} has no notices here: it does not exist, is not set up yet, or is past its retention`,
      );
    return work({ key, items, recipients: sweep.recipients });
  });
}

export function batchIdOf(id: string): string {
  if (!id.includes("/")) return workflowIdOf("sendNoticeBatch", id);
  if (parseWorkflowId(id)?.process === "sendNoticeBatch") return id;
  throw new CommandError(exitCodes.invalid, `${id} is no batch of notices`);
}

export interface NoticeFilter {
  state?: string;
  outcome?: string;
  open?: boolean;
}

/** In the order of their ids. */
export async function* noticesOf(
  { items, key }: KnownNotices,
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
        (state === undefined || wordOf(item) === state) &&
        (outcome === undefined || (item.outcome && camelCase(item.outcome)) === outcome)
      )
        yield item;
    after = page.at(-1)?.evidenceId;
    if (page.length < PAGE) return;
  }
}

/** Each recipient of the list with its notice, in the order of the list, then the notices of which no line is known. */
export async function* recipientRows(
  list: Pieces,
  notices: AsyncIterable<BatchItem>,
): AsyncGenerator<ReportRow> {
  const byLine = new Map<number, BatchItem>();
  const unlisted: BatchItem[] = [];
  for await (const notice of notices) {
    if (notice.line === undefined) unlisted.push(notice);
    else byLine.set(notice.line, notice);
  }
  let columns: Columns | undefined;
  for await (const rows of (await openList(list)).rows)
    for (const { line, fields } of rows) {
      if (!columns) columns = readHeader(fields, line);
      else if (fields.length === columns.names.length)
        yield { line, ...recipientIn(fields, columns), ...rowOf(byLine.get(line)) };
    }
  for (const notice of unlisted) yield { address: "", ...noticeRow(notice) };
}

function rowOf(notice: BatchItem | undefined): Omit<ReportRow, "address"> {
  return notice ? noticeRow(notice) : { source: "list" };
}

/** Without the recipient, of whom the database knows the line alone. */
export function noticeRow({ evidenceId, line, ...known }: BatchItem): Omit<ReportRow, "address"> {
  return {
    ...(line !== undefined && { line }),
    evidenceUniqueId: evidenceId,
    ...knownOf(known),
  };
}

/** The caller's list, as the input of the process names it. */
export async function givenList(workflowId: string): Promise<AsyncIterable<Buffer>> {
  const config = loadConfig();
  const input = await withTrustflow(({ temporal }) =>
    firstInput(temporal, new EncryptionCodec(readingRing(config)), workflowId),
  );
  return listIn(config, input as SendNoticeBatchInput);
}

function listIn(config: Config, { recipients }: SendNoticeBatchInput): AsyncIterable<Buffer> {
  return documentStoreOf(config).openRead(DocumentReference.parse(recipients));
}
