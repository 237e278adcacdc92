// `trustflow report`: what is known of each recipient of a batch, as the stored report or, before the end, as of now.
import type { Command } from "commander";
import { Option } from "commander";
import type { SendNoticeBatchResult } from "../../contracts/send-notice-batch.js";
import { csvReport, jsonLinesReport, ReportCounter } from "../../recipients/report.js";
import type { ReportCounts } from "../../recipients/report.js";
import { addCommand, csvOption } from "../command.js";
import { withTrustflow } from "../context.js";
import { facts, printPieces, writeData, writeJson, writeNote } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import type { Terminal } from "../output/terminal.js";
import { count } from "../../contracts/send-notice-batch/progress-line.js";
import { batchIdOf, givenList, noticesOf, recipientRows, withNotices } from "./batch-rows.js";

interface ReportOptions {
  csv?: boolean;
  jsonLines?: boolean;
  json?: boolean;
}

export function addReport(program: Command): void {
  addCommand(program, "report <id>", {
    summary: "print the report of a batch of notices",
    details: `Without --csv and --json-lines it prints how many recipients have which state and outcome, and where the documents are.
After the end it is the report that the process stored; before it, what callbacks and queries have shown so far.`,
    example: `trustflow report campaign-7
trustflow report campaign-7 --csv > campaign-7.csv`,
  })
    .addOption(csvOption().conflicts("jsonLines"))
    .addOption(
      new Option("--json-lines", "print all rows on stdout, one JSON object per line").conflicts(
        "json",
      ),
    )
    .action((id: string, options: ReportOptions) => report(batchIdOf(id), options));
}

async function report(workflowId: string, options: ReportOptions): Promise<void> {
  const result = await resultOnceEnded(workflowId);
  if (!result) return reportSoFar(workflowId, options);
  const { counts, report: stored, archive, list } = result;
  if (options.csv || options.jsonLines) {
    if (!stored) return writeNote(terminal`${workflowId} ended before it had a notice`);
    const document = options.csv ? stored.csv : stored.jsonLines;
    return withTrustflow(({ documents }) => printPieces(documents.openRead(document)));
  }
  if (options.json) return writeJson({ isFinal: true, counts, report: stored, archive, list });
  writeData(
    countsText(counts, [
      ["outcome", result.outcome],
      ["CSV", stored?.csv.uri],
      ["JSON Lines", stored?.jsonLines.uri],
      ["affidavits", archive?.uri],
      ["problems of the list", list.problemsCsv?.uri],
    ]),
  );
}

function resultOnceEnded(workflowId: string): Promise<SendNoticeBatchResult | undefined> {
  return withTrustflow(async (trustflow) => {
    const handle = trustflow.handle(workflowId as `sendNoticeBatch/${string}`);
    return (await handle.isOpen()) ? undefined : handle.result();
  });
}

async function reportSoFar(workflowId: string, options: ReportOptions): Promise<void> {
  const list = await givenList(workflowId);
  await withNotices(workflowId, async (known) => {
    const counter = new ReportCounter();
    const rows = counter.of(recipientRows(list, noticesOf(known)));
    if (options.csv) return printPieces(csvReport(rows));
    if (options.jsonLines) return printPieces(jsonLinesReport(rows));
    for await (const _ of rows);
    if (options.json) writeJson({ isFinal: false, counts: counter.counts });
    else writeData(countsText(counter.counts, [["outcome", "none yet: the batch is open"]]));
  });
}

function countsText(
  { recipients, withoutNotice, states, outcomes }: ReportCounts,
  more: [string, string | undefined][],
): Terminal {
  const each = (counts: Record<string, number>) =>
    Object.entries(counts).map(([word, number]): [string, string] => [`  ${word}`, count(number)]);
  return facts([
    ["recipients", count(recipients)],
    ["without a notice", withoutNotice === 0 ? undefined : count(withoutNotice)],
    ...each(states),
    ["ended", "by outcome"],
    ...each(outcomes),
    ...more,
  ]);
}
