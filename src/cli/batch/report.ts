// `trustflow report`: what is known of each recipient of a batch, as the stored report or, before the end, as of now.
import type { Command } from "commander";
import type { SendNoticeBatchResult } from "../../contracts/processes.js";
import { csvReport, ReportCounter } from "../../batch/recipients/report.js";
import type { ReportCounts, Rows } from "../../batch/recipients/report.js";
import type { DocumentStore } from "../../documents/store.js";
import { addCommand, csvOption } from "../command.js";
import { withTrustflow } from "../context.js";
import { facts, printPieces, writeAnswer, writeNote } from "../output/output.js";
import type { ListFormat } from "../output/output.js";
import { linesOf, terminal } from "../output/terminal.js";
import type { Terminal } from "../output/terminal.js";
import { count } from "../../contracts/shared/text.js";
import {
  batchIdOf,
  givenList,
  noticeRow,
  noticesByLine,
  noticesOf,
  recipientRows,
  withNotices,
  withoutLineNote,
} from "./rows.js";
import type { GivenList, NoticesByLine } from "./rows.js";

export function addReport(program: Command): void {
  addCommand(program, "report <id>", {
    summary: "print the report of a batch of notices",
    arguments: { id: "the batch: its business id, or sendNoticeBatch/<business id>" },
    details: `Without --csv it prints how many recipients have which state and outcome, and where the documents are.
After the end it is the report that the process stored; before it, what callbacks and queries have shown so far. Notices of which
the provider has not yet said whose they are are then counted apart, and have no rows.`,
    example: `trustflow report campaign-7
trustflow report campaign-7 --csv > campaign-7.csv`,
  })
    .addOption(csvOption())
    .action((id: string, options: ListFormat) => report(batchIdOf(id), options));
}

async function report(workflowId: string, options: ListFormat): Promise<void> {
  const result = await resultOnceEnded(workflowId);
  if (result)
    return withTrustflow(({ documents }) => printReport(workflowId, result, documents, options));
  const list = await givenList(workflowId);
  await withNotices(workflowId, async (known) =>
    printReportSoFar(list, await noticesByLine(noticesOf(known)), options),
  );
}

export async function printReport(
  workflowId: string,
  { outcome, counts, report: stored, archive, list }: SendNoticeBatchResult,
  documents: Pick<DocumentStore, "openRead">,
  options: ListFormat,
): Promise<void> {
  if (options.csv) {
    if (!stored) return writeNote(terminal`${workflowId} ended before it had a notice`);
    return printPieces(documents.openRead(stored.csv));
  }
  const text = countsText(counts, [
    ["outcome", outcome],
    ["CSV", stored?.csv.uri],
    ["JSON Lines", stored?.jsonLines.uri],
    ["affidavits", archive?.uri],
    ["problems of the list", list.problemsCsv?.uri],
  ]);
  writeAnswer(options.json, { isFinal: true, counts, report: stored, archive, list }, text);
}

function resultOnceEnded(workflowId: string): Promise<SendNoticeBatchResult | undefined> {
  return withTrustflow(async (trustflow) => {
    const handle = await trustflow.find(workflowId);
    return (await handle.isOpen())
      ? undefined
      : (handle.result() as Promise<SendNoticeBatchResult>);
  });
}

export async function printReportSoFar(
  list: GivenList,
  notices: NoticesByLine,
  options: ListFormat,
): Promise<void> {
  const rows = () => recipientRows(list, notices);
  const { withoutLine } = notices;
  if (options.csv) {
    await printPieces(csvReport(rows()));
    if (withoutLine.length > 0) writeNote(withoutLineNote(withoutLine.length));
    return;
  }
  const counts = await countsOf(rows());
  const apart = await countsOf(
    withoutLine.map((notice) => ({ address: "", ...noticeRow(notice) })),
  );
  const { recipients: total, states, outcomes } = apart;
  const answer = { isFinal: false, counts, noticesWithoutLine: { total, states, outcomes } };
  const known = countsText(counts, [["outcome", "none yet: the batch is open"]]);
  const unknown = total === 0 ? [] : [withoutLineNote(total), facts(wordsText(apart))];
  writeAnswer(options.json, answer, linesOf([known, ...unknown]));
}

async function countsOf(rows: Rows): Promise<ReportCounts> {
  const counter = new ReportCounter();
  for await (const _ of counter.of(rows));
  return counter.counts;
}

function countsText(counts: ReportCounts, more: [string, string | undefined][]): Terminal {
  const { recipients, withoutNotice } = counts;
  return facts([
    ["recipients", count(recipients)],
    ["without a notice", withoutNotice === 0 ? undefined : count(withoutNotice)],
    ...wordsText(counts),
    ...more,
  ]);
}

function wordsText({ states, outcomes }: ReportCounts): [string, string][] {
  const each = (counts: Record<string, number>) =>
    Object.entries(counts).map(([word, number]): [string, string] => [`  ${word}`, count(number)]);
  return [...each(states), ["ended", "by outcome"], ...each(outcomes)];
}
