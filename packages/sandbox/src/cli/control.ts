// The commands that control a running sandbox over its control API.
import { setTimeout as delay } from "node:timers/promises";
import type { ItemFilter, SandboxControl } from "../control/client.js";
import type { Speed } from "../engine/clock.js";
import type { Duplicate } from "../engine/ledger.js";
import type { Move, Publication } from "../exchange/operation.js";
import { CommandError, exitCodes, spanGiven, speed, table, wholeNumber } from "./command.js";
import type { AddControl } from "./command.js";
import { Option } from "commander";
import { callbackFaultKinds, requestFaultKinds } from "../engine/faults.js";
import type { FaultOptions } from "../engine/faults.js";

const MESSAGE_LIMIT_MS = 60_000;

/** They have no options of their own, and print JSON alone. */
const plain: [string, string, (control: SandboxControl) => Promise<unknown>][] = [
  ["state", "show a summary of its state", (control) => control.state()],
  ["requests", "list the newest requests", (control) => control.requests()],
  ["callbacks", "list the newest callbacks that it sent", (control) => control.callbacks()],
  ["accounts", "list its accounts, without passwords", (control) => control.accounts()],
  ["reset", "delete everything except accounts, clock and seed", (control) => control.reset()],
];

export function addControls(add: AddControl): void {
  for (const [name, summary, ask] of plain) add(name, { summary, example: name }, ask);
  add<{ intent?: string }, Awaited<ReturnType<SandboxControl["ledger"]>>>(
    "ledger",
    {
      summary: "list the effects that would have happened in the real world",
      details: "Ends with 1 if an effect happened twice or a call violated the protocol.",
      example: "ledger --intent order-7",
    },
    async (control, { intent }) => {
      const ledger = await control.ledger(intent);
      if (ledger.duplicates.length + ledger.violations.length > 0)
        process.exitCode = exitCodes.failed;
      return ledger;
    },
    ({ effects, duplicates, violations }) =>
      [
        table(
          ["AT", "OPERATION", "INTENT", "ITEM", "ACCOUNT"],
          effects.map((one) => [one.at, one.operation, one.intent, one.itemId, one.account]),
        ),
        `effects     ${effects.length}`,
        `duplicates  ${duplicates.map(shownDuplicate).join(", ") || "none"}`,
        `violations  ${violations.map(({ kind, detail }) => `${kind}: ${detail}`).join("; ") || "none"}`,
      ].join("\n"),
  ).option("--intent <key>", "only items with this LookupKey");
  add<{ intent?: string; wait?: boolean }, Awaited<ReturnType<SandboxControl["messages"]>>>(
    "messages",
    {
      summary: "list the SMS and e-mails that would have been sent, with their codes",
      example: "messages --intent order-7",
    },
    async (control, { intent, wait = false }) => {
      for (const end = Date.now() + MESSAGE_LIMIT_MS; ; await delay(200)) {
        const messages = await control.messages(intent);
        if (messages.length > 0 || !wait) return messages;
        if (Date.now() > end) throw new CommandError(exitCodes.unknownId, noMessage(intent));
      }
    },
    (messages) =>
      table(
        ["AT", "PROVIDER", "INTENT", "CHANNEL", "TO", "CODE"],
        messages.map((one) => [one.at, one.provider, one.intent, one.channel, one.to, one.otp]),
      ),
  )
    .option(
      "--intent <intent>",
      "only messages of this intent: the holder's identificationCode, or the reference or clientReference of the request",
    )
    .option("--wait", "wait for a message, up to one minute");
  addClock(add);
  addFaults(add);
  addItems(add);
}

function noMessage(intent?: string): string {
  return intent === undefined
    ? "No message was sent within a minute"
    : `No message of the intent ${intent} was sent within a minute; "sandbox messages" lists all`;
}

function addClock(add: AddControl): void {
  add<{ speed?: Speed }, unknown>(
    "clock",
    {
      summary: "show the virtual clock, or set its speed",
      example: "clock --speed 3600",
    },
    (control, options) =>
      options.speed === undefined ? control.clock() : control.setSpeed(options.speed),
  ).option(
    "--speed <factor>",
    "speed of the virtual clock: virtual seconds per second, or manual, or auto",
    speed,
  );
  add(
    "advance <span>",
    {
      summary: "advance the virtual clock and run everything that becomes due",
      arguments: { span: "how far: a number with s, m, h or d, such as 60d" },
      example: "advance 60d",
    },
    (control, _options, text) => control.advance(spanGiven(text)),
  );
}

const item = { id: 'the item\'s id, as "items" shows it' };

function addItems(add: AddControl): void {
  add<ItemFilter, Awaited<ReturnType<SandboxControl["items"]>>>(
    "items",
    { summary: "list the provider's items", example: "items --state Sent" },
    (control, filter) => control.items(filter),
    ({ items }) =>
      table(
        ["ID", "INTENT", "STATE", "OUTCOME", "CREATED"],
        items.map((one) => [one.id, one.intent, one.state, one.outcome, one.createdAt]),
      ),
  )
    .option("--intent <key>", "only items with this LookupKey")
    .option("--state <state>", "only in this state")
    .option("--limit <n>", "maximum number of rows", wholeNumber(1))
    .option("--offset <n>", "number of rows to skip", wholeNumber());
  add(
    "item <id>",
    {
      summary: "show one item in full",
      arguments: item,
      example: "item 4f1c",
    },
    (control, _, id) => control.item(id),
  );
  add<Move, unknown>(
    "move <id>",
    {
      summary: "move an item into a state",
      arguments: item,
      example: "move 4f1c --state Closed --outcome Delivered",
    },
    (control, move, id) => control.move(id, move),
  )
    .requiredOption("--state <state>", "state, in the provider's spelling")
    .option("--outcome <outcome>", "outcome, with the state Closed")
    .option("--keep-plan", "continue the planned lifecycle afterwards");
  add<Publication, unknown>(
    "publish <id>",
    { summary: "publish an affidavit of an item", arguments: item, example: "publish 4f1c" },
    (control, publication, id) => control.publishAffidavit(id, publication),
  )
    .option("--regenerates <affidavit>", "affidavit that is published again")
    .option("--request-id <id>", "on-demand request that the affidavit answers");
}

const shownDuplicate = ({ operation, intent, part = "", count }: Duplicate) =>
  [operation, intent, part, `×${count}`].filter(Boolean).join(" ");

function addFaults(add: AddControl): void {
  add(
    "faults",
    { summary: "list the faults that are set", example: "faults" },
    (control) => control.faults(),
    (faults) =>
      table(
        ["ID", "OPERATION", "KIND", "ONLY", "CALL", "TIMES", "SEEN", "FIRED"],
        faults.map(({ id, operation, kind, call = 1, times = 1, seen, fired, ...only }) => {
          const { lookupKey, account, event } = only;
          const found = [lookupKey, account, event].filter(Boolean).join(" ");
          return [id, operation, kind, found, call, times, seen, fired].map(String);
        }),
      ),
  );
  add<Omit<FaultOptions, "operation">, unknown>(
    "fault <operation>",
    {
      summary: "set a fault",
      arguments: {
        operation:
          "for example evi-post.submit, evi-post.query, evi-post.callback, evi-post.* or *",
      },
      example: "fault evi-post.submit --kind cut-after-commit --call 1",
    },
    (control, options, operation) => control.addFault({ ...options, operation }),
  )
    .addOption(
      new Option("--kind <kind>", "what happens")
        .choices([...requestFaultKinds, ...callbackFaultKinds])
        .makeOptionMandatory(),
    )
    .option("--call <n>", "number of the first matching call that fails", wholeNumber(1))
    .option("--times <n>", "how many matching calls fail, or always", (text) =>
      text === "always" ? text : wholeNumber(1)(text),
    )
    .option(
      "--status <code>",
      "HTTP status for reject and error-after-commit",
      wholeNumber(300, 599),
    )
    .option("--code <n>", "provider's error code for code and error-after-commit", wholeNumber())
    .option("--retry-after-seconds <n>", "Retry-After header for reject", wholeNumber())
    .option("--ms <n>", "duration for slow, slow-answer, invisible and delayed", wholeNumber())
    .option("--queries <n>", "number of queries for invisible", wholeNumber(1))
    .option("--cached", "remember the token as answered")
    .option("--lookup-key <key>", "only items with this LookupKey")
    .option("--account <name>", "only calls of this user name")
    .option("--event <kind>", "only callbacks of this kind")
    .option("--for-ms <n>", "remove the fault after this time", wholeNumber(1));
  add<{ id?: string }, unknown>(
    "clear-faults",
    { summary: "remove all faults, or one", example: "clear-faults" },
    (control, { id }) => (id === undefined ? control.clearFaults() : control.removeFault(id)),
  ).option("--id <id>", "only this one");
}
