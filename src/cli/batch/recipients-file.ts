// The list of `send-notice-batch`: the option that names it, and its check before anything is stored or started (P2 §2.9).
import { existsSync } from "node:fs";
import { loadWithAccounts } from "../../providers/accounts.js";
import { resolve } from "node:path";
import { Option } from "commander";
import type { Command } from "commander";
import type { SendNoticeBatchInput } from "../../contracts/processes.js";
import { preflight, problemsCsv } from "../../batch/recipients/preflight.js";
import type { PreflightOptions, PreflightReport } from "../../batch/recipients/preflight.js";
import type { Pieces } from "../../batch/recipients/list-reader.js";
import { problemFields, unnamedProblems } from "../../batch/recipients/problems.js";
import { csvOption } from "../command.js";
import { documentStoreOf } from "../../config/document-store.js";
import { invalidInput } from "../files.js";
import { exitCodes } from "../output/exit.js";
import { facts, printPieces, table, writeData, writeJson } from "../output/output.js";
import type { ListFormat } from "../output/output.js";
import { withProgress } from "../output/progress.js";
import { linesOf, terminal } from "../output/terminal.js";
import type { Terminal } from "../output/terminal.js";
import { count } from "../../contracts/shared/text.js";
import type { StartExtension, StartInput } from "../processes/start-input.js";

interface RecipientsOptions extends ListFormat {
  recipients?: string;
  preflight?: boolean;
}

/** A person reads the first ones; `--preflight --csv` has them all. */
const PROBLEMS_SHOWN = 20;
const WORDING = { between: ": ", hint: ': "--preflight --csv" prints all' };

export const recipientsFile: StartExtension<RecipientsOptions> = {
  addOptions(command: Command) {
    command
      .option("--recipients <file>", "CSV file with the recipients, in place of the input's")
      .addOption(
        new Option(
          "--preflight",
          "only check the recipients and print what is wrong with which line; ends with 2 if the list is refused",
        ).conflicts(["watch", "dryRun"]),
      )
      .addOption(csvOption().implies({ preflight: true }));
  },

  amend(input, { recipients }) {
    if (recipients === undefined) return input;
    if (!existsSync(recipients))
      throw invalidInput([
        { path: "--recipients", problem: `cannot read ${recipients}: no such file` },
      ]);
    return { ...input, recipients: { path: resolve(recipients), mediaType: "text/csv" } };
  },

  async check(read, options) {
    const list = listOf(read as StartInput<SendNoticeBatchInput>, options.preflight ?? false);
    if (!list) return "start";
    if (options.csv) await printPieces(problemsCsv(list.pieces(), list.options));
    const report = await preflight(list.pieces(), list.options);
    if (!options.preflight) {
      if (!report.isAccepted) throw invalidInput(problemFields(report, WORDING));
      return "start";
    }
    if (options.json) writeJson(report);
    else if (!options.csv) writeData(reportText(report));
    if (!report.isAccepted) process.exitCode = exitCodes.invalid;
    return "done";
  },
};

/** A file of this machine is always checked; a stored document was checked as a file, and is read again only if asked for. */
function listOf(
  { checked, files }: StartInput<SendNoticeBatchInput>,
  readsStored: boolean,
): { options: PreflightOptions; pieces(): Pieces } | undefined {
  const { recipients, onInvalid = "strict", uniqueRecipients = "address" } = checked;
  const options = { onInvalid, unique: uniqueRecipients, problemsShown: PROBLEMS_SHOWN };
  const file = files.get("recipients");
  if (file) return { options, pieces: () => withProgress(file.name, file.size, file.pieces()) };
  if (!readsStored) return undefined;
  return { options, pieces: () => storedPieces(recipients) };
}

function storedPieces(recipients: SendNoticeBatchInput["recipients"]): Pieces {
  if ("base64" in recipients) return [Buffer.from(recipients.base64, "base64")];
  const { uri, size } = recipients;
  return withProgress(uri, size, documentStoreOf(loadWithAccounts()).openRead(recipients));
}

function reportText(report: PreflightReport) {
  const { isAccepted, rows, recipients, invalidRows, isComplete, problems, counts } = report;
  return linesOf([
    facts([
      ["list", isAccepted ? "accepted" : "refused"],
      ["rows", `${count(rows)}${isComplete ? "" : ", up to the line where it cannot be read on"}`],
      ["recipients", count(recipients)],
      ["invalid rows", invalidRows === 0 ? undefined : count(invalidRows)],
      ...counts.map(({ kind, column, count: number }): [string, string] => [
        kind,
        `${count(number)}${column === undefined ? "" : ` in ${column}`}`,
      ]),
    ]),
    ...(problems.length === 0 ? [] : [problemTable(problems)]),
    ...(unnamedProblems(report) > 0 ? [terminal`… "--csv" prints all`] : []),
  ]);
}

/** The problems of a file with a row for each item; those of the whole file have no line. */
export function problemTable(
  problems: { line?: number | undefined; column?: string | undefined; problem: string }[],
): Terminal {
  return table(
    ["LINE", "COLUMN", "PROBLEM"],
    problems.map(({ line, column, problem }) => [
      line === undefined ? "" : String(line),
      column,
      problem,
    ]),
  );
}
