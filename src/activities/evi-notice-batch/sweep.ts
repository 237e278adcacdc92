// Reads the notices of a batch that no callback has closed (P2 §4.2 Get and Query): their ids from the batch's
// recipients, then many notices in one query by our own lookup keys, else each by its id.
import type { BatchItem, ReadItem } from "../../batch/items/items.js";
import { camelCase } from "../../batch/items/shown.js";
import type { ProviderError } from "../../providers/errors/provider-error.js";
import * as eviNotice from "../../providers/evi-notice/client.js";
import type { BatchRecipient, Cursor, Notice, Page } from "../../providers/evi-notice/client.js";
import { lineOfOwnKey, ownKey } from "../../batch/recipients/own-key.js";
import { unless } from "../runtime/polling.js";
import type { BatchContext, OfBatch, SentList } from "./context.js";
import { attemptLimit } from "./context.js";

type Listed = Pick<BatchItem, "evidenceId" | "line">;
type OfList = OfBatch & { list: SentList };

/** A query has at most 100 results (P2 §4.2). */
const KEYS_PER_QUERY = 100;
const ITEMS_PER_ROUND = 800;

/** Notes which notices the batch has, from the page on at which an earlier attempt ended. `failed`: as the provider counts them. */
export async function listItems(
  context: BatchContext,
  { batchId, list }: OfList,
  failed: number,
): Promise<void> {
  const { deps, process: processKey } = context;
  const sweep = await deps.items.sweep(processKey);
  let cursor: Cursor | undefined = sweep?.cursor;
  let shown = 0;
  do {
    const from = cursor;
    const page = await pageFrom(context, batchId, from);
    if (!page) return deps.items.noteListed(processKey, []);
    shown += page.results.length;
    context.checkEnds(shown, list.recipients);
    cursor = page.cursor;
    const items = page.results.flatMap((recipient) => itemOf(recipient, list));
    const unnoticed = page.results.length - items.length;
    await deps.items.noteListed(processKey, items, cursor, { from, unnoticed });
  } while (cursor !== undefined);
  await deps.items.endListing(processKey, { recipients: list.recipients, failed });
}

/** Undefined where the provider no longer takes the cursor. */
async function pageFrom(
  context: BatchContext,
  batchId: string,
  cursor: Cursor | undefined,
): Promise<Page<BatchRecipient> | undefined> {
  const asked = { batchId, limit: context.account.batch.recipientsPage, cursor };
  const [page] = await context.pace.all([asked], () =>
    unless(
      ({ status }) => cursor !== undefined && status === 400,
      context.ask("queryRecipients", eviNotice.queryRecipients, asked),
    ),
  );
  return page;
}

function itemOf(recipient: BatchRecipient, { keyTag }: SentList): Listed[] {
  const { evidenceUniqueId: evidenceId } = recipient;
  if (evidenceId === undefined) return [];
  const line = keyTag === undefined ? undefined : lineOfOwnKey(lookupKeyOf(recipient), keyTag);
  return [{ evidenceId, ...(line !== undefined && { line }) }];
}

/** As the provider shows the column (assumed). */
export function lookupKeyOf({ providerFields = {} }: BatchRecipient): string | undefined {
  const name = Object.keys(providerFields).find((one) => one.toLowerCase() === "lookupkey");
  const key = name === undefined ? undefined : providerFields[name];
  return typeof key === "string" ? key : undefined;
}

/** Notices that were not read since `before`. Throws `GoesOnLater` where they are more than one attempt can read. */
export async function readItems(
  context: BatchContext,
  { list }: OfList,
  { before, isOpen = false }: { before: Date; isOpen?: boolean },
): Promise<void> {
  const { deps, process: processKey, pace } = context;
  const checkTime = attemptLimit();
  for (;;) {
    const stamp = await deps.journal.now();
    const due = await deps.items.due(processKey, before, ITEMS_PER_ROUND, { isOpen });
    if (due.length === 0) return deps.items.noteSwept(processKey, stamp);
    checkTime();
    const keyed = list.keyTag === undefined ? [] : due.filter(({ line }) => line !== undefined);
    const shown = new Set<string>();
    await pace.all(chunksOf(keyed, KEYS_PER_QUERY), async (some) => {
      // A provider may refuse so many keys: then each is read by its id.
      const byKeys = readByKeys(context, some, list.keyTag ?? "");
      const read = (await unless(isRefused, byKeys)) ?? [];
      for (const { evidenceId } of read) shown.add(evidenceId);
      await deps.items.noteRead(processKey, read, stamp);
    });
    const left = due.filter(({ evidenceId }) => !shown.has(evidenceId));
    await pace.all(left, async (item) => {
      const read = await readById(context, item);
      await deps.items.noteRead(processKey, [read], stamp);
    });
  }
}

/** Those that the answer shows. */
async function readByKeys(
  context: BatchContext,
  items: Listed[],
  keyTag: string,
): Promise<ReadItem[]> {
  const lookupKeys = items.map(({ line = 0 }) => ownKey(keyTag, line));
  const asked = { lookupKeys, limit: KEYS_PER_QUERY };
  const { results } = await context.ask("query", eviNotice.query, asked);
  const byId = new Map(results.map((notice) => [notice.id.toLowerCase(), notice]));
  return items.flatMap((item) => {
    const notice = byId.get(item.evidenceId.toLowerCase());
    return notice ? [{ ...item, ...stateOf(notice) }] : [];
  });
}

/**
 * Mails and text messages of a batch have no read (P2 §4.4): they are asked for, and not shown. So is an id that the provider refuses, and
 * one that no notice has.
 */
async function readById(context: BatchContext, item: Listed): Promise<ReadItem> {
  if (!isPlainId(item.evidenceId)) return item;
  const reading = context.ask("get", eviNotice.get, { id: item.evidenceId });
  const notice = await unless(isRefused, reading);
  return notice ? { ...item, ...stateOf(notice) } : item;
}

/** Whether an id may stand in a path; a callback alone may have brought it. */
export function isPlainId(id: string): boolean {
  return /^[\w.:~-]{1,200}$/.test(id) && !/^\.+$/.test(id);
}

/** Not about the account, its pace or the provider's health. */
function isRefused({ kind, status = 0 }: ProviderError): boolean {
  return kind === "notVisibleYet" || (kind === "protocol" && status >= 400 && status < 500);
}

function stateOf({ state, outcome }: Notice): Pick<ReadItem, "state" | "outcome"> {
  return { state, ...(outcome !== undefined && { outcome: camelCase(outcome) }) };
}

function chunksOf<T>(items: T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}
