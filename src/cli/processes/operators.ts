// What an operator does over many processes: `list` and `resolve`.
import { type Command, Option } from "commander";
import type { ListedProcess, Trustflow } from "../../client.js";
import { namePlaceholder } from "../../contracts/shared/decisions.js";
import type { Resolution } from "../../contracts/shared/messages.js";
import { processes, type ProcessName } from "../../contracts/shared/names.js";
import { shellWord } from "../../contracts/shared/text.js";
import { addCommand, csvOption, personName, parseProcessName, wholeNumber } from "../command.js";
import { withTrustflow } from "../context.js";
import { CommandError, type ExitCode, exitCodes, failureOf } from "../output/exit.js";
import {
  type Rows,
  writeCsv,
  writeData,
  writeJson,
  writeNote,
  writeTable,
} from "../output/output.js";
import { readStepResult } from "../step-result.js";
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

type Given = Omit<Resolution, "attention"> & { attention?: string };

interface ResolveOptions extends Omit<Given, "result"> {
  result?: string;
  resultFile?: string;
  json?: boolean;
}

/** What became of one id. */
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
    summary: "the processes there are, open ones first",
    details: `As Temporal's visibility shows them, a moment behind; no worker is asked.
With --stuck those whose workflow tasks keep failing: "trustflow cleanup" resets each of them once. REPAIRED says when;
one that is stuck after that needs a person.`,
    example: "trustflow list --attention",
  })
    .option("--attention", "only those that wait for a person")
    .option("--stuck", "only those whose workflow tasks keep failing")
    .addOption(
      new Option("--process <process>", "only these")
        .choices(processes)
        .argParser(parseProcessName),
    )
    .option("--limit <n>", "at most so many", wholeNumber(1), 1_000)
    .addOption(csvOption())
    .action(({ json, csv, limit, ...filter }: ListOptions) =>
      withTrustflow(async (trustflow) => {
        const found: ListedProcess[] = [];
        for await (const entry of trustflow.list(filter)) {
          if (found.length === limit) {
            writeNote(terminal`There are more than ${limit}: see --limit.`);
            break;
          }
          found.push(entry);
        }
        if (json) return writeJson(found);
        const write = csv ? writeCsv : writeTable;
        write(...(filter.stuck ? stuckRows(found) : listRows(found, csv)));
      }),
    );

  addCommand(program, "resolve <id...>", {
    summary: "decide for processes that wait for a person",
    details: `Without --attention it is about the first attention that each process shows.
retry opens a new attempt; happened says that the effect exists, and brings what the process needs
of it (a step that needs nothing takes it without); abandon ends the process. Where nobody knows whether the
first attempt arrived (unknownOutcome), retry needs --confirm-retry and --note: it sends a second one if it did.
JSON on the command line is visible to other users of this machine (ps), and the shell's history keeps it: bring
what is secret (deviceCode, esawToken) by "--result -" or --result-file.
Where decisions.secondPerson names the decision, it is pending (5) until another operator decides alike.
One line for each ID; the exit code is the worst of them.`,
    example: `trustflow resolve order-7 --decision retry --by "Ana Ruiz"
trustflow resolve issueCertificate/order-8 --decision happened --result - --by ana --note "seen in the portal"
trustflow resolve issueCertificate/order-8 --decision happened --result-file enrolled.json --by ana
trustflow resolve sendMessage/order-9 --decision retry --confirm-retry --by ana --note "not in the portal"`,
  })
    .option("--attention <attention>", "only this one; with a single ID")
    .addOption(
      new Option("--decision <decision>", "what to do")
        .choices(["retry", "happened", "abandon"])
        .makeOptionMandatory(),
    )
    .requiredOption("--by <name>", "who decides; stands in the timeline", personName)
    .option("--note <text>", "why; stands in the timeline")
    .option(
      "--confirm-retry",
      "with retry of what may have happened: you checked at the provider that the first one did not arrive",
    )
    .option(
      "--result <json>",
      "with happened: the ids that the step would have brought; - asks for them without showing them, elsewhere than on a terminal it reads stdin",
    )
    .option("--result-file <file>", "the same from a file; - is that of --result")
    .action(resolveAll);
}

/** What is proposed has a column where there is any; CSV has it always, so that its columns stay the same. */
function listRows(found: ListedProcess[], csv = false): Rows {
  const isProposed = csv || found.some(({ proposals }) => proposals !== undefined);
  const columns = ["ID", "STARTED", "STATE", "PHASE", "OUTCOME", "ATTENTION", "ACCOUNT"];
  return [
    isProposed ? [...columns, "PROPOSED"] : columns,
    found.map((one) => [
      one.workflowId,
      one.startedAt,
      one.state.toLowerCase(),
      one.phase,
      one.outcome,
      one.attention,
      one.account,
      ...(isProposed ? [proposedIn(one)] : []),
    ]),
  ];
}

/** The first one; a process may have several attentions. */
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
      stuck?.repairedAt === undefined ? "not yet" : `once, without success: ${stuck.repairedAt}`,
    ]),
  ];
}

async function resolveAll(
  ids: string[],
  { json, result: text, resultFile, ...rest }: ResolveOptions,
): Promise<void> {
  const result = await readStepResult(rest.decision, { text, file: resultFile, isQuiet: json });
  const options: Given = { ...rest, ...(result && { result }) };
  if (options.attention !== undefined && ids.length > 1) {
    throw new CommandError(
      exitCodes.invalid,
      "--attention: names one attention of one process, and there are several IDs",
    );
  }
  await withTrustflow(async (trustflow) => {
    const all: Resolved[] = [];
    for (const id of ids) {
      const resolved = await resolveOne(trustflow, id, options);
      all.push(resolved);
      if (!json) writeData(lineOf(resolved));
    }
    if (json) writeJson(all);
    process.exitCode = worst(all.map(({ exitCode }) => exitCode));
  });
}

async function resolveOne(
  trustflow: Trustflow,
  given: string,
  { attention: asked, ...decision }: Given,
): Promise<Resolved> {
  let id = given;
  try {
    const handle = await trustflow.find(given);
    id = handle.workflowId;
    const attention = asked ?? (await handle.status()).attention?.id;
    if (attention === undefined) {
      return {
        id,
        answer: "notWaiting",
        message: "it waits for nobody",
        exitCode: exitCodes.failed,
      };
    }
    const resolution: Resolution = { attention, ...decision };
    const { answer, until } = await handle.resolve(resolution);
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
    return { id, answer, message, exitCode };
  }
}

/** What a second operator runs; the result is not repeated, as that operator has to find the same. */
function confirming(id: string, { attention, decision, result }: Resolution): string {
  const options = [
    `--attention ${shellWord(attention)} --decision ${decision}`,
    ...(result ? ["--result-file FILE"] : []),
    `--by ${namePlaceholder}`,
  ];
  return `until another operator decides alike: trustflow resolve ${shellWord(id)} ${options.join(" ")}`;
}

function lineOf({ id, attention, answer, until, message, exitCode }: Resolved): Terminal {
  const more = [
    ...(attention === undefined ? [] : [`(${attention})`]),
    ...(until === undefined ? [] : [`an attempt may be running until ${until}`]),
    ...(message === undefined ? [] : [message]),
  ];
  return columns([id, paint(exitCode === 0 ? "green" : "yellow", answer), more.join(" ")], []);
}

/** From the mildest to the worst. */
const severity: ExitCode[] = [0, 5, 1, 3, 2, 4];

function worst(codes: ExitCode[]): ExitCode {
  return codes.reduce(
    (one, other) => (severity.indexOf(other) > severity.indexOf(one) ? other : one),
    0,
  );
}
