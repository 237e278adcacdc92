// `trustflow callbacks`: operators read the inbox and replay callbacks (docs/design.md §7).
import { Argument, type Command, Option } from "commander";
import { callbackUrl } from "../../callbacks/address.js";
import {
  CallbackArchive,
  callbackStates,
  type CallbackFilter,
  type CallbackState,
  type CallbackSummary,
} from "../../callbacks/inbox/archive.js";
import { parseWorkflowId, processes } from "../../contracts/registry.js";
import { workflowIdOf } from "../../contracts/shared/names.js";
import { required, ringOf } from "../../config/config.js";
import type { Config } from "../../config/config.js";
import { loadWithAccounts } from "../../providers/accounts.js";
import { addCommand, severalOf } from "../command.js";
import { withDatabase } from "../context.js";
import { accountMissing, CommandError, exitCodes, usageError } from "../output/exit.js";
import {
  factsOf,
  writeAnswer,
  writeData,
  writeJson,
  writeList,
  writeNote,
} from "../output/output.js";
import type { Columns, ListFormat } from "../output/output.js";
import { addPaging, listedNumber, sayReplayed, writePage } from "./numbered.js";
import { quoted, terminal } from "../output/terminal.js";
import { timeAgo, timeHelp } from "../when.js";
import { accountCallbackProviders, type Provider } from "../../providers/registry.js";

interface ListOptions extends ListFormat {
  state?: CallbackState[];
  since?: Date;
  before?: string;
  limit: number;
}

interface ReplayOptions {
  since?: Date;
  state?: CallbackState[];
  dryRun?: boolean;
  json?: boolean;
}

const REPLAYED_AT_ONCE = 1_000;

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
    arguments: { callback: "its number, as a list shows it" },
    details: "The body is what the provider sent; it may hold personal data.",
    example: "trustflow callbacks show 42",
  }).action((id: string, { json }: { json?: boolean }) =>
    withArchive(async (archive, config) => {
      const found = await archive.show(rowId(id), ringOf(config, "inbox"));
      if (!found) throw new CommandError(exitCodes.unknownId, `Unknown callback ${id}`);
      if (json) return writeJson(found);
      const { body, ...summary } = found;
      writeData(factsOf(summary));
      writeData(body === undefined ? terminal`(the body is deleted)` : quoted(body));
    }),
  );
  addCommand(callbacks, "replay [callback...]", {
    summary: "deliver parked, late or surplus callbacks again",
    arguments: { callback: "their numbers, as a list shows them; none with --since" },
    details: `With --since, all callbacks received from this time on that are parked, or in a state of --state.
Ends with 1 if one of them is in another state, or its body is deleted.`,
    example: `trustflow callbacks replay 42 43
trustflow callbacks replay --since 6h --dry-run
trustflow callbacks replay --since 2026-11-26T15:00:00Z --state parked --state late`,
  })
    .addOption(sinceOption())
    .addOption(
      severalOf(
        "--state <state>",
        "with --since: callbacks in this state; may be repeated; default: parked",
        ["parked", "late", "surplus"],
      ),
    )
    .option("--dry-run", "with --since: only list them")
    .action(replay);
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
      if (!config.accounts[account]?.[provider]) throw accountMissing(account, provider);
      const publicUrl = required(config.callbacks.publicUrl, "callbacks.publicUrl");
      const url = callbackUrl(ringOf(config, "callback"), publicUrl, { provider, account });
      writeAnswer(json, { url }, terminal`${url}`);
    });
}

function addList(parent: Command, name: string, summary: string, example: string): Command {
  const command = addCommand(parent, `${name} [id]`, {
    summary,
    arguments: {
      id: 'only callbacks of this process: "<process>/<business id>", or the business id alone',
    },
    example,
  });
  return addPaging(command.addOption(sinceOption()), "callback");
}

async function list(
  processName: string | undefined,
  { state, since, before, ...page }: ListOptions,
): Promise<void> {
  await withArchive(async (archive) => {
    const filter = {
      limit: page.limit + 1,
      ...(before !== undefined && { before: rowId(before) }),
    };
    const pages = await Promise.all(
      workflowIds(processName).map((workflowId) =>
        archive.list({
          ...filter,
          ...(state && { states: state }),
          ...(since && { since }),
          ...(workflowId !== undefined && { workflowId }),
        }),
      ),
    );
    // Those of a business id are of several processes.
    const newestFirst = pages.flat().toSorted((a, b) => Number(BigInt(b.id) - BigInt(a.id)));
    writePage(newestFirst, columns, page);
  });
}

const columns: Columns<CallbackSummary> = {
  ID: "id",
  RECEIVED: "receivedAt",
  STATE: "state",
  PROCESS: (one) => one.workflowId ?? `(${one.provider}, account ${one.account})`,
  IDENTIFIER: "identifier",
  REASON: ({ reason, detail }) => [reason, detail].filter(Boolean).join(": "),
};

function sinceOption(): Option {
  return new Option(
    "--since <time>",
    `only callbacks received from this time on: ${timeHelp}`,
  ).argParser(timeAgo);
}

async function replay(ids: string[], { since, state, dryRun, json }: ReplayOptions): Promise<void> {
  if (ids.length > 0 === (since !== undefined))
    throw usageError("callback: give callbacks or --since, and not both");
  if (since === undefined && (state !== undefined || dryRun))
    throw usageError("--state and --dry-run: need --since");
  const states = state ?? ["parked"];
  await withArchive(async (archive) => {
    const replayed: string[] = [];
    const found: CallbackSummary[] = [];
    if (since === undefined) replayed.push(...(await archive.replay(ids.map(rowId))));
    else
      for await (const page of pagesOf(archive, { since, states })) {
        found.push(...page);
        if (!dryRun) replayed.push(...(await archive.replay(page.map(({ id }) => id))));
      }
    if (dryRun) {
      writeList({ json }, found, columns);
      if (!json) writeNote(terminal`Nothing was replayed: --dry-run`);
      return;
    }
    const all = since === undefined ? ids.map(rowId) : found.map(({ id }) => id);
    const why = "its body is deleted, or it is neither parked nor late nor surplus";
    sayReplayed(json, all, replayed, why);
    if (!json && all.length === 0) writeNote(terminal`No ${states.join("/")} callback since then`);
  });
}

/** From the newest to the oldest, so that none comes twice that is parked again meanwhile. */
async function* pagesOf(
  archive: CallbackArchive,
  filter: CallbackFilter,
): AsyncGenerator<CallbackSummary[]> {
  for (let before: { before?: string } = {}; ;) {
    const page = await archive.list({ ...filter, ...before, limit: REPLAYED_AT_ONCE });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    before = { before: last.id };
  }
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

const rowId = (text: string) => listedNumber(text, "callback", "callbacks");
