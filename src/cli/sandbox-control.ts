// `trustflow sandbox <sub-command>`: steers a running sandbox over its control API.
import { type Command, Option } from "commander";
import { loadConfig } from "../config.js";
import type { ItemFilter, SandboxControl } from "../sandbox/control.js";
import { callbackFaultKinds, type FaultOptions, requestFaultKinds } from "../sandbox/faults.js";
import type { Move, Publication } from "../sandbox/operation.js";
import { addCommand, type CommandText, span, speed, wholeNumber } from "./command.js";
import { CommandError, exitCodes } from "./exit.js";
import { facts, table, writeData, writeJson } from "./output.js";

const DEFAULT_URL = "http://127.0.0.1:8090";

interface Asked {
  url?: string;
  json?: boolean;
}

type Words<R> = (result: R) => string;

/** One sub-command: what it asks for, and how that reads without `--json`. */
function add<O extends object, R>(
  sandbox: Command,
  name: string,
  text: CommandText,
  ask: (control: SandboxControl, options: O, argument: string) => Promise<R>,
  words: Words<R> = (result) => JSON.stringify(result, undefined, 2),
): Command {
  const takesArgument = name.includes(" ");
  return addCommand(sandbox, name, text)
    .option("--url <url>", `of the sandbox; default: the configured account's, else ${DEFAULT_URL}`)
    .action(async (...given: unknown[]) => {
      const [first, second] = given;
      const { url, json, ...options } = (takesArgument ? second : first) as Asked & O;
      const { sandboxControl } = await import("../sandbox/control.js");
      const at = url ?? configuredUrl() ?? DEFAULT_URL;
      const control = sandboxControl(at);
      const result = await ask(control, options as O, String(first)).catch(refused(at));
      if (json) writeJson(result);
      else writeData(words(result));
    });
}

export function addSandboxControl(sandbox: Command): void {
  add(sandbox, "state", { summary: "what it holds, at a glance", example: "trustflow sandbox state" }, (control) =>
    control.state(),
  );
  add<{ intent?: string }, Awaited<ReturnType<SandboxControl["ledger"]>>>(
    sandbox,
    "ledger",
    {
      summary: "what would have happened in the real world",
      details: "Exit code 1 where an effect happened twice or the protocol was violated.",
      example: "trustflow sandbox ledger --intent order-7",
    },
    async (control, { intent }) => {
      const ledger = await control.ledger(intent);
      if (ledger.duplicates.length + ledger.violations.length > 0) process.exitCode = exitCodes.failed;
      return ledger;
    },
    ({ effects, duplicates, violations }) =>
      [
        table(
          ["AT", "OPERATION", "INTENT", "ITEM", "ACCOUNT"],
          effects.map(({ at, operation, intent, itemId, account }) => [at, operation, intent ?? "", itemId, account]),
        ),
        facts([
          ["effects", String(effects.length)],
          ["duplicates", duplicates.map(({ operation, intent, count }) => `${operation} ${intent} ×${count}`).join(", ") || "none"],
          ["violations", violations.map(({ kind, detail }) => `${kind}: ${detail}`).join("; ") || "none"],
        ]),
      ].join("\n"),
  ).option("--intent <key>", "only this LookupKey");
  add(sandbox, "requests", { summary: "the newest requests", example: "trustflow sandbox requests" }, (control) =>
    control.requests(),
  );
  add(sandbox, "callbacks", { summary: "the newest callbacks it sent", example: "trustflow sandbox callbacks" }, (control) =>
    control.callbacks(),
  );
  addClock(sandbox);
  addFaults(sandbox);
  addItems(sandbox);
}

function addClock(sandbox: Command): void {
  add<{ speed?: number | "manual" }, unknown>(
    sandbox,
    "clock",
    { summary: "the virtual clock, and its speed", example: "trustflow sandbox clock --speed 3600" },
    (control, options) => (options.speed === undefined ? control.clock() : control.setSpeed(options.speed)),
  ).option("--speed <factor>", "virtual seconds per second, or manual", speed);
  add(
    sandbox,
    "advance <span>",
    { summary: "move the virtual clock on, and do all that was due", example: "trustflow sandbox advance 60d" },
    (control, _options, text) => control.advance(span(text)),
  );
}

function addFaults(sandbox: Command): void {
  add(
    sandbox,
    "faults",
    { summary: "the faults that are set", example: "trustflow sandbox faults" },
    (control) => control.faults(),
    (faults) =>
      table(
        ["ID", "OPERATION", "KIND", "CALL", "TIMES", "SEEN", "FIRED"],
        faults.map(({ id, operation, kind, call = 1, times = 1, seen, fired }) =>
          [id, operation, kind, call, times, seen, fired].map(String),
        ),
      ),
  );
  add<Omit<FaultOptions, "operation">, unknown>(
    sandbox,
    "fault <operation>",
    {
      summary: "set a fault",
      details: "The operation is for example evi-post.submit, evi-post.query, evi-post.callback, evi-post.* or *.",
      example: "trustflow sandbox fault evi-post.submit --kind cut-after-commit --call 1",
    },
    (control, options, operation) => control.addFault({ ...options, operation }),
  )
    .addOption(
      new Option("--kind <kind>", "what happens").choices([...requestFaultKinds, ...callbackFaultKinds]).makeOptionMandatory(),
    )
    .option("--call <n>", "the first matching call that it hits", wholeNumber(1))
    .option("--times <n>", "how many calls from there, or always", (text) =>
      text === "always" ? text : wholeNumber(1)(text),
    )
    .option("--status <code>", "of reject and error-after-commit", wholeNumber(200))
    .option("--retry-after-seconds <n>", "of reject", wholeNumber())
    .option("--ms <n>", "of slow, slow-answer, invisible and delayed", wholeNumber())
    .option("--queries <n>", "of invisible", wholeNumber(1))
    .option("--cached", "the token counts as answered")
    .option("--lookup-key <key>", "only this LookupKey")
    .option("--account <name>", "only this user name")
    .option("--event <kind>", "only callbacks of this kind")
    .option("--for-ms <n>", "only for so long", wholeNumber(1));
  add<{ id?: string }, unknown>(
    sandbox,
    "clear-faults",
    { summary: "take all faults away, or one", example: "trustflow sandbox clear-faults" },
    (control, { id }) => (id === undefined ? control.clearFaults() : control.removeFault(id)),
  ).option("--id <id>", "only this one");
}

function addItems(sandbox: Command): void {
  add<ItemFilter, Awaited<ReturnType<SandboxControl["items"]>>>(
    sandbox,
    "items",
    { summary: "the items that the provider has", example: "trustflow sandbox items --state Sent" },
    (control, filter) => control.items(filter),
    ({ items }) =>
      table(
        ["ID", "INTENT", "STATE", "OUTCOME", "CREATED"],
        items.map(({ id, intent, state, outcome, createdAt }) => [id, intent ?? "", state, outcome, createdAt]),
      ),
  )
    .option("--intent <key>", "only this LookupKey")
    .option("--state <state>", "only in this state")
    .option("--limit <n>", "at most so many", wholeNumber(1))
    .option("--offset <n>", "from this one on", wholeNumber());
  add(sandbox, "item <id>", { summary: "one item with all it knows", example: "trustflow sandbox item 4f1c" }, (control, _, id) =>
    control.item(id),
  );
  add<Move, unknown>(
    sandbox,
    "move <id>",
    { summary: "bring an item into a state", example: "trustflow sandbox move 4f1c --state Closed --outcome Delivered" },
    (control, move, id) => control.move(id, move),
  )
    .requiredOption("--state <state>", "as the provider spells it")
    .option("--outcome <outcome>", "with Closed")
    .option("--keep-plan", "go on with the planned lifecycle afterwards");
  add<Publication, unknown>(
    sandbox,
    "publish <id>",
    { summary: "publish an affidavit of an item", example: "trustflow sandbox publish 4f1c" },
    (control, publication, id) => control.publishAffidavit(id, publication),
  )
    .option("--regenerates <affidavit>", "the affidavit that is published again")
    .option("--request-id <id>", "the on-demand request that it answers");
  add(sandbox, "accounts", { summary: "its accounts, without passwords", example: "trustflow sandbox accounts" }, (control) =>
    control.accounts(),
  );
  add(sandbox, "reset", { summary: "empty everything but accounts, clock and seed", example: "trustflow sandbox reset" }, (control) =>
    control.reset(),
  );
}

/** Only where the environment is the sandbox: control requests never go to a real provider. */
function configuredUrl(): string | undefined {
  const { environment, accounts } = loadConfig();
  if (environment !== "sandbox") return undefined;
  const [account] = Object.values(accounts).flatMap((providers) => providers["evi-post"] ?? []);
  return account?.baseUrl;
}

function refused(url: string): (error: Error & { code?: string }) => never {
  return (error) => {
    if (!error.message.includes("/_sandbox/")) {
      throw new CommandError(exitCodes.outOfReach, `The sandbox at ${url} cannot be reached: ${error.code ?? error.name}`);
    }
    const status = /: (\d{3}) /.exec(error.message)?.[1];
    throw new CommandError(status === "404" ? exitCodes.unknownId : exitCodes.invalid, error.message);
  };
}
