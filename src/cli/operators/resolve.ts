// `trustflow resolve`: an operator decides for one process, for several, or for all that meet a filter.
import { Option } from "commander";
import type { Command } from "commander";
import type { Trustflow } from "../../client.js";
import { consequencesOf, namePlaceholder } from "../../contracts/shared/decisions.js";
import type { Resolution, Decision } from "../../contracts/shared/messages.js";
import type { Attention, ProcessStatus } from "../../contracts/shared/status.js";
import { shellWord } from "../../contracts/shared/text.js";
import { addUpdateCommand, personName } from "../command.js";
import { processId, withTrustflow } from "../context.js";
import { exitCodes, failureOf, usageError, worstOf } from "../output/exit.js";
import type { ExitCode } from "../output/exit.js";
import { writeData, writeJson, writeNote } from "../output/output.js";
import { columns, paint, terminal } from "../output/terminal.js";
import type { Terminal } from "../output/terminal.js";
import { whereOption } from "./filters.js";
import type { FilterOptions } from "./filters.js";
import { secretNames } from "../../contracts/definition/secret-fields.js";
import { enteredJson, noteVisible } from "../entered.js";
import { jsonObject, readText } from "../files.js";

interface Given extends Omit<Resolution, "attention"> {
  attention?: string;
  updateId?: string;
  where?: FilterOptions;
  dryRun?: boolean;
}

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

export function addResolve(program: Command): void {
  addUpdateCommand(program, "resolve [id...]", {
    summary: "decide for processes that need an operator decision",
    arguments: { id: processId },
    details: `Without --attention the decision is for the first attention that each process shows; with --where for the first one that
has the kind and the reason of the filter.
retry: makes a new attempt. If the first attempt may have arrived (unknownOutcome), the retry may cause a second
effect, so it needs --confirm-retry and --note.
happened: you verified it at the provider; supply its IDs with --result (some steps need none).
abandon: ends the process as failed.
JSON on the command line is visible to other users of this machine (ps), and the shell's history keeps it. Supply
secrets (deviceCode, esawToken) with "--result -" or --result-file.
If decisions.secondPerson names the decision, it is pending (5) until a second operator makes the same decision.
--where decides for all processes that meet the filters: one decision for each, with the same conditions as for a single one.
A process that refuses it does not stop the others. Use --dry-run first: it shows each process and what the decision would do.
Prints one line for each ID; the exit code is the worst of them.`,
    example: `trustflow resolve order-7 --decision retry --by "Ana Ruiz"
trustflow resolve issueCertificate/order-8 --decision happened --result - --by ana --note "seen in the portal"
trustflow resolve issueCertificate/order-8 --decision happened --result-file enrolled.json --by ana
trustflow resolve sendMessage/order-9 --decision retry --confirm-retry --by ana --note "not in the portal"
trustflow resolve --where kind=accessDenied --where account=branch --decision retry --by ana --dry-run`,
  })
    .option("--attention <attention>", "id of the attention; only with a single ID")
    .addOption(whereOption())
    .option("--dry-run", "only show what would be decided, and what would be refused")
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

async function resolveAll(
  ids: string[],
  { json, result: text, resultFile, ...rest }: ResolveOptions,
): Promise<void> {
  refuseUnclear(ids, rest, text ?? resultFile);
  const result = await readStepResult(rest.decision, { text, file: resultFile, isQuiet: json });
  const options: Given = { ...rest, ...(result && { result }) };
  await withTrustflow(async (trustflow) => {
    const all: Resolved[] = [];
    const decided = new Set<string>();
    for (const id of await chosen(trustflow, ids, options)) {
      const resolved = await resolveOne(trustflow, id, options, decided);
      if (!resolved) continue;
      all.push(resolved);
      if (!json) writeData(lineOf(resolved));
    }
    if (json) writeJson(all);
    else if (all.length === 0) writeNote(terminal`No process that needs a decision meets --where`);
    if (options.dryRun && !json) writeNote(terminal`Nothing was decided: --dry-run`);
    process.exitCode = worstOf(all.map(({ exitCode }) => exitCode));
  });
}

/** Each of these options names something of one process, so it cannot be meant for several. */
function refuseUnclear(
  ids: string[],
  { where, attention, updateId, dryRun }: Omit<ResolveOptions, "result">,
  result: string | undefined,
): void {
  if (ids.length > 0 === (where !== undefined))
    throw usageError("id: give IDs or --where, and not both");
  for (const [option, value, what] of [
    ["--attention", attention, "one attention of one process"],
    ["--update-id", updateId, "one update of one process"],
  ] as const)
    if (ids.length !== 1 && value !== undefined)
      throw usageError(`${option}: needs a single ID, because it names ${what}`);
  if (where && result !== undefined)
    throw usageError("--result: needs IDs, because each process has a result of its own");
  if (updateId === undefined) return;
  if (dryRun) throw usageError("--update-id: cannot be used together with --dry-run");
  if (attention === undefined)
    throw usageError(
      "--update-id: needs --attention, because the process may show another attention by now",
    );
}

/** All of them before the first decision, which changes what a list shows. */
async function chosen(
  trustflow: Trustflow,
  ids: string[],
  { where }: Given,
): Promise<readonly string[]> {
  if (!where) return [...new Set(ids)];
  const found = new Set<string>();
  for await (const { workflowId } of trustflow.list({ ...where, attention: true }))
    found.add(workflowId);
  return [...found];
}

/** Undefined where it is decided already: a second decision would be about the next attention of the process. */
async function resolveOne(
  trustflow: Trustflow,
  given: string,
  { updateId, where, dryRun, attention: asked, ...decision }: Given,
  decided: Set<string>,
): Promise<Resolved | undefined> {
  let id = given;
  let attention = asked;
  try {
    const handle = await trustflow.find(given);
    id = handle.workflowId;
    if (decided.has(id)) return undefined;
    decided.add(id);
    const isShown = dryRun || attention === undefined;
    const shown = isShown ? attentionIn(await handle.status(), { ...where, id: asked }) : undefined;
    attention ??= shown?.id;
    if (attention === undefined || (dryRun && !shown))
      return { id, answer: "notWaiting", message: "nothing to decide", exitCode: 1 };
    const resolution: Resolution = { attention, ...decision };
    if (dryRun && shown) return { id, attention, ...dryRunOf(shown, resolution) };
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

/** The first attention of the status that has the id, the kind and the reason, as far as each is given. */
function attentionIn(
  { attention, moreAttentions = [] }: ProcessStatus,
  { id, kind, reason = "" }: FilterOptions & { id: string | undefined },
): Attention | undefined {
  const all = attention ? [attention, ...moreAttentions] : [];
  return all.find(
    (one) =>
      (id === undefined || one.id === id) &&
      (kind === undefined || kind.includes(one.kind)) &&
      one.reason.toLowerCase().includes(reason.toLowerCase()),
  );
}

/** What the process would refuse, as far as its attention says so; else what the decision would do. */
function dryRunOf(
  attention: Attention,
  { decision, result = {}, ...given }: Resolution,
): Pick<Resolved, "answer" | "message" | "exitCode"> {
  const { kind, reason, decisions, retryNeeds = [], happenedNeeds = [] } = attention;
  const about = `${kind}: ${reason}`;
  const refused = (why: string) => ({
    answer: "wouldBeRefused",
    message: `${about}: ${why}`,
    exitCode: exitCodes.invalid,
  });
  if (!decisions.includes(decision)) return refused(`it takes ${decisions.join(", ")} only`);
  const missing = {
    retry: retryNeeds.filter((name) => !Object.hasOwn(given, name)),
    happened: happenedNeeds.filter((name) => !Object.hasOwn(result, name)),
    abandon: [],
  }[decision];
  if (missing.length > 0) return refused(`${decision} needs ${missing.join(", ")}`);
  const [, does = ""] = consequencesOf(attention).find(([one]) => one === decision) ?? [];
  return {
    answer: "wouldBeDecided",
    message: `${about}: ${decision} ${does}`,
    exitCode: exitCodes.ok,
  };
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

interface GivenResult {
  text: string | undefined;
  file: string | undefined;
  /** Suppresses the warning about a secret on the command line. */
  isQuiet: boolean | undefined;
}

async function readStepResult(
  decision: Decision,
  { text, file, isQuiet }: GivenResult,
): Promise<Resolution["result"]> {
  const refuse = (problem: string) => usageError(`--result: ${problem}`);
  if (text !== undefined && file !== undefined)
    throw refuse("cannot be used together with --result-file");
  const source = text ?? file;
  if (source === undefined) return undefined;
  if (decision !== "happened") throw refuse("can only be used with --decision happened");
  const option = text === undefined ? "--result-file" : "--result";
  if (source === "-")
    return jsonObject(await enteredJson("The step's result as JSON", option), option, source);
  if (text === undefined) return jsonObject(await readText(source, option), option, source);
  const result = jsonObject(text, option, "the text");
  if (!isQuiet) await noteSecrets(result);
  return result;
}

async function noteSecrets(result: object): Promise<void> {
  const { secretIds } = await import("../../contracts/message-contracts.js");
  for (const name of secretNames(secretIds))
    if (Object.hasOwn(result, name)) noteVisible(name, "use --result - or --result-file");
}
