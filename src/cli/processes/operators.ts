// Commands of an operator for many processes: `list` and `resolve`.
import { type Command, Option } from "commander";
import type { ListedProcess, Trustflow } from "../../client.js";
import { processes } from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import { namePlaceholder } from "../../contracts/shared/decisions.js";
import type { Resolution } from "../../contracts/shared/messages.js";
import { shellWord } from "../../contracts/shared/text.js";
import {
  addCommand,
  addUpdateCommand,
  csvOption,
  personName,
  parseProcessName,
  wholeNumber,
} from "../command.js";
import { withTrustflow } from "../context.js";
import { CommandError, type ExitCode, exitCodes, failureOf, worstOf } from "../output/exit.js";
import {
  type Rows,
  writeCsv,
  writeData,
  writeJson,
  writeNote,
  writeTable,
} from "../output/output.js";
import { readStepResult } from "../step-result.js";
import { retryText } from "./show.js";
import { columns, paint, terminal } from "../output/terminal.js";
import type { Terminal } from "../output/terminal.js";

interface ListOptions {
  attention?: boolean;
  stuck?: boolean;
  process?: ProcessName;
  limit: number;
  json?: boolean;
  csv?: boolean;
}

type Given = Omit<Resolution, "attention"> & { attention?: string; updateId?: string };

interface ResolveOptions extends Omit<Given, "result"> {
  result?: string;
  resultFile?: string;
  json?: boolean;
}

/** `resolve` prints one for each ID. */
interface Resolved {
  id: string;
  attention?: string;
  answer: string;
  until?: string;
  message?: string;
  exitCode: ExitCode;
}

export function addOperators(program: Command): void {
  addCommand(program, "list", {
    summary: "list processes, open ones first",
    details: `The list comes from Temporal's visibility store and may lag by a second; it needs no worker.
Without --attention and --stuck, RETRYING shows of each open process the call that failed and is made again: host, cause, and the
next attempt.
--stuck lists processes whose workflow tasks keep failing. "trustflow cleanup" resets each of them once; REPAIRED shows when.
An operator must look at a process that is still stuck after that.`,
    example: "trustflow list --attention",
  })
    .option("--attention", "only processes that need an operator decision")
    .option("--stuck", "only processes whose workflow tasks keep failing")
    .addOption(
      new Option("--process <process>", "only processes of this kind")
        .choices(processes)
        .argParser(parseProcessName),
    )
    .option("--limit <n>", "maximum number of rows", wholeNumber(1), 1_000)
    .addOption(csvOption())
    .action(({ json, csv, limit, ...filter }: ListOptions) =>
      withTrustflow(async (trustflow) => {
        const found: ListedProcess[] = [];
        // With a filter the list already says what is wrong.
        const isOverview = !filter.stuck && !filter.attention;
        for await (const entry of trustflow.list({ ...filter, retrying: isOverview })) {
          if (found.length === limit) {
            writeNote(terminal`Only the first ${limit} are shown: raise --limit for more.`);
            break;
          }
          found.push(entry);
        }
        if (json) return writeJson(found);
        const write = csv ? writeCsv : writeTable;
        write(...(filter.stuck ? stuckRows(found) : listRows(found, csv)));
      }),
    );

  addUpdateCommand(program, "resolve <id...>", {
    summary: "decide for processes that need an operator decision",
    details: `Without --attention the decision is for the first attention that each process shows.
retry: makes a new attempt. If the first attempt may have arrived (unknownOutcome), the retry may cause a second
effect, so it needs --confirm-retry and --note.
happened: you verified it at the provider; supply its IDs with --result (some steps need none).
abandon: ends the process as failed.
JSON on the command line is visible to other users of this machine (ps), and the shell's history keeps it. Supply
secrets (deviceCode, esawToken) with "--result -" or --result-file.
If decisions.secondPerson names the decision, it is pending (5) until a second operator makes the same decision.
Prints one line for each ID; the exit code is the worst of them.`,
    example: `trustflow resolve order-7 --decision retry --by "Ana Ruiz"
trustflow resolve issueCertificate/order-8 --decision happened --result - --by ana --note "seen in the portal"
trustflow resolve issueCertificate/order-8 --decision happened --result-file enrolled.json --by ana
trustflow resolve sendMessage/order-9 --decision retry --confirm-retry --by ana --note "not in the portal"`,
  })
    .option("--attention <attention>", "id of the attention; only with a single ID")
    .addOption(
      new Option("--decision <decision>", "the decision")
        .choices(["retry", "happened", "abandon"])
        .makeOptionMandatory(),
    )
    .requiredOption(
      "--by <name>",
      "name of the person who decides; shown in the timeline",
      personName,
    )
    .option("--note <text>", "reason; shown in the timeline")
    .option(
      "--confirm-retry",
      "required to retry an effect that may have happened: you verified at the provider that the first attempt did not arrive",
    )
    .option(
      "--result <json>",
      "with happened: the IDs that the step would have returned, as JSON; - asks for them on a terminal without showing them, else reads stdin",
    )
    .option("--result-file <file>", "the same as --result, from a file; - works as in --result")
    .action(resolveAll);
}

/** The columns PROPOSED and RETRYING appear if a process has one. CSV always has them, so that its columns stay the same. */
function listRows(found: ListedProcess[], csv = false): Rows {
  const isProposed = csv || found.some(({ proposals }) => proposals !== undefined);
  const isRetrying = csv || found.some(({ retrying }) => retrying !== undefined);
  const columns = ["ID", "STARTED", "STATE", "PHASE", "OUTCOME", "ATTENTION", "ACCOUNT"];
  return [
    [...columns, ...(isProposed ? ["PROPOSED"] : []), ...(isRetrying ? ["RETRYING"] : [])],
    found.map((one) => [
      one.workflowId,
      one.startedAt,
      one.state.toLowerCase(),
      one.phase,
      one.outcome,
      one.attention,
      one.account,
      ...(isProposed ? [proposedIn(one)] : []),
      ...(isRetrying ? [one.retrying?.map(retryText).join(" | ")] : []),
    ]),
  ];
}

/** The first proposal; a process may have several attentions. */
function proposedIn({ proposals: [first, ...more] = [] }: ListedProcess): string | undefined {
  if (!first) return undefined;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return `${first.decision} by ${first.principal}${others}`;
}

function stuckRows(found: ListedProcess[]): Rows {
  return [
    ["ID", "STARTED", "STUCK SINCE", "FAILURES", "CAUSE", "REPAIRED"],
    found.map(({ workflowId, startedAt, stuck }) => [
      workflowId,
      startedAt,
      stuck?.since,
      String(stuck?.failures ?? ""),
      stuck?.cause,
      stuck?.repairedAt === undefined ? "not yet" : `once, without success, at ${stuck.repairedAt}`,
    ]),
  ];
}

async function resolveAll(
  ids: string[],
  { json, result: text, resultFile, ...rest }: ResolveOptions,
): Promise<void> {
  const result = await readStepResult(rest.decision, { text, file: resultFile, isQuiet: json });
  const options: Given = { ...rest, ...(result && { result }) };
  for (const [option, value, what] of [
    ["--attention", options.attention, "one attention of one process"],
    ["--update-id", options.updateId, "one update of one process"],
  ] as const)
    if (ids.length > 1 && value !== undefined)
      throw new CommandError(
        exitCodes.invalid,
        `${option}: needs a single ID, because it names ${what}`,
      );
  if (options.updateId !== undefined && options.attention === undefined)
    throw new CommandError(
      exitCodes.invalid,
      "--update-id: needs --attention, because the process may show another attention by now",
    );
  await withTrustflow(async (trustflow) => {
    const all: Resolved[] = [];
    for (const id of ids) {
      const resolved = await resolveOne(trustflow, id, options);
      all.push(resolved);
      if (!json) writeData(lineOf(resolved));
    }
    if (json) writeJson(all);
    process.exitCode = worstOf(all.map(({ exitCode }) => exitCode));
  });
}

async function resolveOne(
  trustflow: Trustflow,
  given: string,
  { attention: asked, updateId, ...decision }: Given,
): Promise<Resolved> {
  let id = given;
  let attention = asked;
  try {
    const handle = await trustflow.find(given);
    id = handle.workflowId;
    attention ??= (await handle.status()).attention?.id;
    if (attention === undefined)
      return { id, answer: "notWaiting", message: "nothing to decide", exitCode: 1 };
    const resolution: Resolution = { attention, ...decision };
    const { answer, until } = await handle.resolve(resolution, updateId);
    const exitCode = {
      resolved: exitCodes.ok,
      pending: exitCodes.waitsForPerson,
      notYet: exitCodes.waitsForPerson,
      unavailable: exitCodes.failed,
    }[answer];
    return {
      id,
      attention,
      answer,
      ...(until !== undefined && { until }),
      ...(answer === "pending" && { message: confirming(id, resolution) }),
      exitCode,
    };
  } catch (error) {
    const { error: answer, message, exitCode } = failureOf(error);
    return { id, ...(attention !== undefined && { attention }), answer, message, exitCode };
  }
}

/** The command for the second operator. It does not repeat the result: that operator must find the same result independently. */
function confirming(id: string, { attention, decision, result }: Resolution): string {
  const file = result ? " --result-file FILE" : "";
  const options = `--attention ${shellWord(attention)} --decision ${decision}${file} --by ${namePlaceholder}`;
  return `waits for the same decision by a second operator: trustflow resolve ${shellWord(id)} ${options}`;
}

function lineOf({ id, attention, answer, until, message, exitCode }: Resolved): Terminal {
  const more = [
    attention && `(${attention})`,
    until && `an attempt may still be running until ${until}; decide again after that`,
    message,
  ].filter(Boolean);
  return columns([id, paint(exitCode === 0 ? "green" : "yellow", answer), more.join(" ")], []);
}
