// `trustflow callbacks`: operators read the inbox and replay callbacks (docs/design.md §7).
import { Argument, type Command } from "commander";
import { callbackUrl } from "../../callbacks/address.js";
import {
  CallbackArchive,
  callbackStates,
  type CallbackState,
  type CallbackSummary,
} from "../../callbacks/inbox/archive.js";
import { parseWorkflowId, processes } from "../../contracts/registry.js";
import { workflowIdOf } from "../../contracts/shared/names.js";
import { required, ringOf } from "../../config/config.js";
import type { Config } from "../../config/config.js";
import { loadWithAccounts } from "../../providers/accounts.js";
import { addCommand, csvOption, severalOf, wholeNumber } from "../command.js";
import { withDatabase } from "../context.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { facts, writeCsv, writeData, writeJson, writeTable } from "../output/output.js";
import { quoted, terminal } from "../output/terminal.js";
import { accountCallbackProviders, type Provider } from "../../providers/registry.js";

interface ListOptions {
  state?: CallbackState[];
  before?: string;
  limit: number;
  json?: boolean;
  csv?: boolean;
}

export function addCallbacks(program: Command): void {
  const callbacks = addCommand(program, "callbacks", {
    summary: "list the callbacks in the inbox and replay them",
    example: "trustflow callbacks parked",
    isGroup: true,
  });
  addList(callbacks, "list", "list callbacks, newest first", "trustflow callbacks list order-7")
    .addOption(
      severalOf("--state <state>", "only callbacks in this state; may be repeated", callbackStates),
    )
    .action((processName: string | undefined, options: ListOptions) => list(processName, options));
  const lists = [
    ["parked", "that could not be delivered, with the reason", "trustflow callbacks parked"],
    ["late", "that came after the end of their process", "trustflow callbacks late order-7"],
    ["surplus", "beyond the number that a process receives", "trustflow callbacks surplus order-7"],
  ] as const;
  for (const [state, which, example] of lists)
    addList(callbacks, state, `list callbacks ${which}`, example).action(
      (processName: string | undefined, options: ListOptions) =>
        list(processName, { ...options, state: [state] }),
    );
  addCommand(callbacks, "show <callback>", {
    summary: "show one callback with its body",
    details: "The body is what the provider sent; it may hold personal data.",
    example: "trustflow callbacks show 42",
  }).action((id: string, { json }: { json?: boolean }) =>
    withArchive(async (archive, config) => {
      const found = await archive.show(rowId(id), ringOf(config, "inbox"));
      if (!found) throw new CommandError(exitCodes.unknownId, `Unknown callback ${id}`);
      if (json) return writeJson(found);
      const { body, ...summary } = found;
      writeData(facts(Object.entries(summary).map(([name, value]) => [name, shown(value)])));
      writeData(body === undefined ? terminal`(the body is deleted)` : quoted(body));
    }),
  );
  addCommand(callbacks, "replay <callback...>", {
    summary: "deliver parked, late or surplus callbacks again",
    details: "Ends with 1 if one of them is in another state, or its body is deleted.",
    example: "trustflow callbacks replay 42 43",
  }).action((ids: string[], { json }: { json?: boolean }) =>
    withArchive(async (archive) => {
      const replayed = await archive.replay(ids.map(rowId));
      const rest = ids.filter((id) => !replayed.includes(id));
      if (json) writeJson({ replayed, notReplayed: rest });
      else
        for (const id of ids)
          writeData(
            terminal`${id}  ${rest.includes(id) ? "not replayed: neither parked nor late nor surplus" : "replayed"}`,
          );
      if (rest.length > 0) process.exitCode = exitCodes.failed;
    }),
  );
  addCommand(callbacks, "address", {
    summary: "print the callback URL of a provider that has one address per account",
    details:
      "Keep the URL secret and give it only to the provider: anyone who has it can send callbacks.",
    example: "trustflow callbacks address one-shot-signature --account default",
  })
    .addArgument(
      new Argument("<provider>", "provider that sends the callbacks").choices(
        accountCallbackProviders,
      ),
    )
    .option("--account <name>", "account of that provider", "default")
    .action((provider: Provider, { account, json }: { account: string; json?: boolean }) => {
      const config = loadWithAccounts();
      if (!config.accounts[account]?.[provider])
        throw new CommandError(
          exitCodes.invalid,
          `account: accounts.${account}.${provider} is not configured`,
        );
      const publicUrl = required(config.callbacks.publicUrl, "callbacks.publicUrl");
      const url = callbackUrl(ringOf(config, "callback"), publicUrl, { provider, account });
      if (json) writeJson({ url });
      else writeData(terminal`${url}`);
    });
}

function addList(parent: Command, name: string, summary: string, example: string): Command {
  return addCommand(parent, `${name} [id]`, {
    summary,
    details: "With an ID, only callbacks of that process.",
    example,
  })
    .option("--before <callback>", "only callbacks before this one, for the next page")
    .option("--limit <n>", "maximum number of rows", wholeNumber(1), 100)
    .addOption(csvOption());
}

async function list(
  processName: string | undefined,
  { state, before, limit, json, csv }: ListOptions,
): Promise<void> {
  await withArchive(async (archive) => {
    const filter = { limit, ...(before !== undefined && { before: rowId(before) }) };
    const pages = await Promise.all(
      workflowIds(processName).map((workflowId) =>
        archive.list({
          ...filter,
          ...(state && { states: state }),
          ...(workflowId !== undefined && { workflowId }),
        }),
      ),
    );
    const rows = pages.flat();
    if (json) return writeJson(rows);
    const write = csv ? writeCsv : writeTable;
    write(["ID", "RECEIVED", "STATE", "PROCESS", "IDENTIFIER", "REASON"], rows.map(cells));
  });
}

function cells(one: CallbackSummary): string[] {
  return [
    one.id,
    one.receivedAt.toISOString(),
    one.state,
    one.workflowId ?? `(${one.provider}, account ${one.account})`,
    one.identifier,
    [one.reason, one.detail].filter(Boolean).join(": "),
  ];
}

/** A business id without its process can belong to any process; no id means all callbacks. */
function workflowIds(id: string | undefined): (string | undefined)[] {
  if (id === undefined) return [undefined];
  return parseWorkflowId(id) ? [id] : processes.map((name) => workflowIdOf(name, id));
}

async function withArchive(
  work: (archive: CallbackArchive, config: Config) => Promise<void>,
): Promise<void> {
  await withDatabase((pool, config) => work(new CallbackArchive(pool), config));
}

function rowId(text: string): string {
  if (/^\d{1,18}$/.test(text)) return text;
  throw new CommandError(
    exitCodes.invalid,
    `callback: ${text} must be a number, as "trustflow callbacks list" shows it`,
  );
}

function shown(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
