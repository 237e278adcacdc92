// `trustflow start PROCESS --csv FILE`: a process for each row of a file. Checks the whole file first, and can be run again at any time:
// what was started is joined.
import { createHash } from "node:crypto";
import type { Command } from "commander";
import { startSome } from "../../client/start-many.js";
import type { StartRequest } from "../../client/start-many.js";
import type { Trustflow } from "../../client.js";
import { contractOf } from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import { workflowIdOf } from "../../contracts/shared/names.js";
import { derivedUploadId } from "../../documents/document-id.js";
import { InvalidInputError, TooManyFailuresError } from "../../errors/index.js";
import type { TrustflowError } from "../../errors/index.js";
import { bar, count } from "../../contracts/shared/text.js";
import { problemTable } from "../batch/recipients-file.js";
import { addCommand, processArgument, wholeNumber } from "../command.js";
import { withTrustflow } from "../context.js";
import { CommandError, exitCodes, failureOf, worstOf } from "../output/exit.js";
import type { ExitCode } from "../output/exit.js";
import { facts, table, writeData, writeJsonLine, writeOver } from "../output/output.js";
import { untilSignal } from "../output/progress.js";
import { isLive, linesOf, terminal } from "../output/terminal.js";
import { sayValid, withStoredFiles } from "../processes/start-input.js";
import type { Put } from "../processes/start-input.js";
import { ResultFile } from "./result-file.js";
import type { Outcome, RowResult } from "./result-file.js";
import { checkRows, rowsOf } from "./rows.js";
import type { ManyRow, RowProblem } from "./rows.js";

interface ManyOptions {
  csv: string;
  result?: string;
  concurrency: number;
  maxFailures?: number;
  dryRun?: boolean;
  json?: boolean;
}

const FAILURES_SHOWN = 20;
/** The shortest time between two lines of progress. */
const EVERY_MS = 100;

export function addStartMany(program: Command): void {
  addCommand(program, "start", {
    summary: "start a process for each row of a CSV file",
    details: `The header names properties of the input by their paths, as recipientAddress.streetAddress; id is the business id. A document is
a column such as document.path, relative to the CSV file. An empty cell is a property that is not there. The fields are separated by
commas or by semicolons.
The whole file is checked first: if a row is wrong, every problem is named with its line and column, and nothing is started.
Run it again after a kill or a failure: what was started with the same input is joined, and nothing is sent twice.
With --json, prints a line for each row. The exit code is the worst of the rows.`,
    example:
      "trustflow start sendPostal --csv letters.csv --dry-run\ntrustflow start sendPostal --csv letters.csv --result letters-result.csv --max-failures 10",
  })
    .addArgument(processArgument())
    .requiredOption("--csv <file>", "CSV file in UTF-8, a process in each row")
    .option(
      "--result <file>",
      "write what becomes of each row, as it goes; a second run adds what has changed",
    )
    .option("--concurrency <n>", "how many starts are made at once", wholeNumber(1), 10)
    .option(
      "--max-failures <n>",
      "start no more after more failures than this; default: no limit",
      wholeNumber(),
    )
    .option("--dry-run", "only check the file; store and start nothing")
    .action(startMany);
}

async function startMany(processName: ProcessName, options: ManyOptions): Promise<void> {
  const { rows, problems } = await checkRows(processName, options.csv);
  if (problems.length > 0) throw refused(problems, options);
  if (options.dryRun)
    return sayValid(options.json, { process: processName, rows }, [
      "whether the workers know the accounts",
      contractOf(processName).command.notChecked,
      "whether an id is already used with another input",
    ]);
  await withTrustflow(async (trustflow) => {
    const result = options.result === undefined ? undefined : await ResultFile.open(options.result);
    const run = new ManyRun(rows, options, result);
    try {
      await untilSignal((isStopped) => run.start(trustflow, processName, isStopped));
    } finally {
      await result?.close();
    }
  });
}

function refused(problems: RowProblem[], { csv, json }: ManyOptions): CommandError {
  if (!json) writeData(problemTable(problems));
  const fields = problems.map(({ line, column, problem }) => ({
    path: [line !== undefined && `line ${line}`, column].filter(Boolean).join(", ") || "--csv",
    problem,
  }));
  const total = `${count(problems.length)} ${problems.length === 1 ? "problem" : "problems"}`;
  return new CommandError(exitCodes.invalid, `${csv}: ${total}; nothing was started`, fields);
}

class ManyRun {
  readonly #rows: number;
  readonly #options: ManyOptions;
  readonly #result: ResultFile | undefined;
  readonly #counts: Record<RowResult, number> = { started: 0, joined: 0, failed: 0, notStarted: 0 };
  readonly #codes = new Set<ExitCode>();
  readonly #failures: Outcome[] = [];
  /** The rows that were taken and have no outcome yet. */
  readonly #taken = new Map<string, ManyRow>();
  #shownAt = 0;

  constructor(rows: number, options: ManyOptions, result: ResultFile | undefined) {
    this.#rows = rows;
    this.#options = options;
    this.#result = result;
  }

  async start(
    trustflow: Trustflow,
    processName: ProcessName,
    isStopped: () => boolean,
  ): Promise<void> {
    const { csv, concurrency, maxFailures = Infinity } = this.#options;
    const rows = rowsOf(processName, csv);
    const startOne = async ({ id, input: row }: StartRequest<ManyRow>) => {
      // The file has changed since it was checked.
      if (!row.read) throw new InvalidInputError(row.problems.map(fieldOf));
      const put = putOnce(workflowIdOf(processName, id));
      const input = await withStoredFiles(row.read, () => trustflow.documents, put);
      return trustflow.start(processName, id, input);
    };
    const requests = this.#requests(rows, isStopped);
    try {
      for await (const { id, handle, error } of startSome(requests, startOne, {
        concurrency,
        maxFailures,
      })) {
        if (error) await this.#failed(id, error);
        else await this.#settle(id, handle.started === "created" ? "started" : "joined");
      }
    } catch (error) {
      if (!(error instanceof TooManyFailuresError)) throw error;
    } finally {
      await this.#leaveRest(rows);
      this.#clear();
      this.#report();
    }
  }

  async *#requests(
    rows: AsyncGenerator<ManyRow>,
    isStopped: () => boolean,
  ): AsyncGenerator<StartRequest<ManyRow>> {
    while (!isStopped()) {
      const { done, value: row } = await rows.next();
      if (done) return;
      this.#taken.set(row.id, row);
      yield { id: row.id, input: row };
    }
  }

  async #failed(id: string, error: TrustflowError): Promise<void> {
    this.#codes.add(failureOf(error).exitCode);
    await this.#settle(id, "failed", { error: error.code, message: error.message });
  }

  async #settle(
    id: string,
    result: RowResult,
    why: Pick<Outcome, "error" | "message"> = {},
  ): Promise<void> {
    const { line = 0 } = this.#taken.get(id) ?? {};
    this.#taken.delete(id);
    this.#counts[result] += 1;
    const outcome: Outcome = { line, id, result, ...why };
    await this.#result?.add(outcome);
    if (result === "failed" && this.#failures.length < FAILURES_SHOWN) this.#failures.push(outcome);
    if (this.#options.json) writeJsonLine(outcome);
    this.#show();
  }

  /** The rows that were not started, because of a signal or of too many failures. */
  async #leaveRest(rows: AsyncGenerator<ManyRow>): Promise<void> {
    for (const id of [...this.#taken.keys()]) await this.#settle(id, "notStarted");
    for await (const row of rows) {
      this.#taken.set(row.id, row);
      await this.#settle(row.id, "notStarted");
    }
  }

  #show(): void {
    const { stderr } = process;
    const now = performance.now();
    if (!isLive(stderr) || now - this.#shownAt < EVERY_MS) return;
    this.#shownAt = now;
    const { started, joined, failed, notStarted } = this.#counts;
    const done = started + joined + failed + notStarted;
    const failures = failed > 0 ? `, ${count(failed)} failed` : "";
    writeOver(
      stderr,
      terminal`${bar(done / this.#rows)} ${count(done)} of ${count(this.#rows)}${failures}`,
    );
  }

  #clear(): void {
    if (this.#shownAt > 0) writeOver(process.stderr, terminal``);
  }

  #report(): void {
    process.exitCode = worstOf(this.#codes);
    if (this.#options.json) return;
    const { started, joined, failed, notStarted } = this.#counts;
    const lines = [
      facts([
        ["started", count(started)],
        ["joined", joined === 0 ? undefined : `${count(joined)}, which were there already`],
        ["failed", failed === 0 ? undefined : count(failed)],
        [
          "not started",
          notStarted === 0 ? undefined : `${count(notStarted)}: run the same command again`,
        ],
      ]),
    ];
    if (failed > 0)
      lines.push(
        table(
          ["LINE", "ID", "ERROR", "MESSAGE"],
          this.#failures.map(({ line, id, error, message }) => [String(line), id, error, message]),
        ),
      );
    if (failed > this.#failures.length)
      lines.push(terminal`… "--result" writes all of them to a file`);
    writeData(linesOf(lines));
  }
}

const fieldOf = ({ line, column, problem }: RowProblem) => ({
  path: column ?? `line ${line}`,
  problem,
});

/** Under an id that the process and the content give, so that a second run stores no second copy. */
function putOnce(workflowId: string): Put {
  return async (store, { pieces, mediaType }, path) => {
    const hash = createHash("sha256");
    for await (const piece of pieces()) hash.update(piece);
    const id = derivedUploadId(workflowId, path, hash.digest("hex"));
    return store.putStream(pieces(), mediaType, { id });
  };
}
