// Writes the report of a batch as JSON Lines and CSV into the document store: each recipient with its state, and where that is from.
import type { BatchCounts } from "../../contracts/send-notice-batch/contract.js";
import type { DocumentReference } from "../../contracts/shared/values.js";
import type { BatchItem } from "../../batch/items/items.js";
import { knownOf } from "../../batch/items/shown.js";
import type { BatchRecipient } from "../../providers/evi-notice/client.js";
import { LineIndex, LineSet, listedRows } from "../../batch/recipients/list-lines.js";
import type { ListedRow } from "../../batch/recipients/list-lines.js";
import { lineOfOwnKey, withoutOwnKey } from "../../batch/recipients/own-key.js";
import {
  csvReport,
  jsonLinesReport,
  ReportCounter,
  reportRows,
} from "../../batch/recipients/report.js";
import { reasonOf } from "../../batch/recipients/reason.js";
import type { ReportRow } from "../../batch/recipients/report.js";
import type { AttemptMode } from "../runtime/failure.js";
import type { BatchContext, OfBatch, SentList } from "./context.js";
import { lookupKeyOf } from "./sweep.js";

export interface WrittenReport {
  csv: DocumentReference;
  jsonLines: DocumentReference;
  counts: BatchCounts;
}

type Reported = OfBatch & { list: SentList; given: DocumentReference };

/** `stamp`: of the workflow, so that a retry writes the same documents. */
export async function writeReport(
  context: BatchContext,
  { stamp, ...reported }: Reported & { stamp: string; mode: AttemptMode },
): Promise<WrittenReport> {
  const of = (form: string) => ({ kind: "report" as const, parts: [stamp, form] });
  const jsonLines = await context.storeOnce(of("json-lines"), "application/x-ndjson", () =>
    jsonLinesReport(rowsOf(context, reported)),
  );
  const counter = new ReportCounter();
  const rows = () => reportRows(context.deps.documents.openRead(jsonLines));
  const csv = await context.deps.documents.putStream(
    csvReport(counter.of(rows())),
    "text/csv",
    await context.ownDocument(of("csv")),
  );
  return { csv, jsonLines, counts: counter.counts };
}

/** The recipients as the provider names them, and then the rows of the list that it does not name. */
async function* rowsOf(context: BatchContext, reported: Reported): AsyncGenerator<ReportRow> {
  const { deps, process: processKey } = context;
  const { batchId, list, given } = reported;
  const listed = () => listedRows(deps.documents.openRead(given), list.unique);
  let index: Promise<LineIndex> | undefined;
  const named = new LineSet();
  for await (const page of context.recipients(batchId, list.recipients)) {
    const ids = page.flatMap(({ evidenceUniqueId: id }) => (id === undefined ? [] : [id]));
    const items = await deps.items.byEvidence(processKey, ids);
    for (const recipient of page) {
      const item = items.get(recipient.evidenceUniqueId ?? "");
      const row = rowOf(recipient, item, list.keyTag);
      if (row.line === undefined) {
        index ??= LineIndex.of(listed(), list.unique);
        const line = (await index).lineOf(row);
        if (line !== undefined) row.line = line;
      }
      if (row.line !== undefined) named.add(row.line);
      yield row;
    }
  }
  for await (const row of listed()) if (!named.has(row.line)) yield unnamed(row);
}

function rowOf(
  recipient: BatchRecipient,
  item: BatchItem | undefined,
  keyTag: string | undefined,
): ReportRow {
  const { address, evidenceUniqueId } = recipient;
  const shown = lookupKeyOf(recipient);
  const line = (keyTag === undefined ? undefined : lineOfOwnKey(shown, keyTag)) ?? item?.line;
  const lookupKey = keyTag === undefined ? shown : withoutOwnKey(shown, keyTag);
  const known = knownOf(item ?? { source: "recipients" });
  return {
    ...(line !== undefined && { line }),
    address,
    ...(lookupKey && { lookupKey }),
    ...(evidenceUniqueId === undefined
      ? { reason: "the provider shows no notice" }
      : { evidenceUniqueId, ...reasonOf(known) }),
    ...known,
  };
}

function unnamed({ line, address = "", lookupKey, problem }: ListedRow): ReportRow {
  return {
    line,
    address,
    ...(lookupKey !== undefined && { lookupKey }),
    reason: problem ?? "the provider does not name the recipient",
    source: "list",
  };
}
