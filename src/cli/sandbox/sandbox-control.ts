// `trustflow sandbox <sub-command>`: steers a running sandbox over its control API.
import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import type { Speed } from "../../sandbox/engine/clock.js";
import type { ItemFilter, SandboxControl } from "../../sandbox/control/client.js";
import type { Move, Publication } from "../../sandbox/exchange/operation.js";
import { span, speed, wholeNumber } from "../command.js";
import { exitCodes } from "../output/exit.js";
import { facts, table } from "../output/output.js";
import { addSandboxCommand } from "./sandbox-command.js";
import { addSandboxFaults } from "./sandbox-faults.js";
import { linesOf } from "../output/terminal.js";

const MESSAGE_LIMIT_MS = 60_000;

export function addSandboxControl(sandbox: Command): void {
  addSandboxCommand(
    sandbox,
    "state",
    { summary: "what it holds, at a glance", example: "trustflow sandbox state" },
    (control) => control.state(),
  );
  addSandboxCommand<{ intent?: string }, Awaited<ReturnType<SandboxControl["ledger"]>>>(
    sandbox,
    "ledger",
    {
      summary: "what would have happened in the real world",
      details: "Exit code 1 where an effect happened twice or the protocol was violated.",
      example: "trustflow sandbox ledger --intent order-7",
    },
    async (control, { intent }) => {
      const ledger = await control.ledger(intent);
      if (ledger.duplicates.length + ledger.violations.length > 0)
        process.exitCode = exitCodes.failed;
      return ledger;
    },
    ({ effects, duplicates, violations }) =>
      linesOf([
        table(
          ["AT", "OPERATION", "INTENT", "ITEM", "ACCOUNT"],
          effects.map(({ at, operation, intent, itemId, account }) => [
            at,
            operation,
            intent ?? "",
            itemId,
            account,
          ]),
        ),
        facts([
          ["effects", String(effects.length)],
          [
            "duplicates",
            duplicates
              .map(({ operation, intent, part = "", count }) =>
                [operation, intent, part, `×${count}`].filter(Boolean).join(" "),
              )
              .join(", ") || "none",
          ],
          [
            "violations",
            violations.map(({ kind, detail }) => `${kind}: ${detail}`).join("; ") || "none",
          ],
        ]),
      ]),
  ).option("--intent <key>", "only this LookupKey");
  addSandboxCommand<
    { intent?: string; wait?: boolean },
    Awaited<ReturnType<SandboxControl["messages"]>>
  >(
    sandbox,
    "messages",
    {
      summary: "the SMS and e-mails it would have sent, with their codes",
      example: "trustflow sandbox messages --intent order-7",
    },
    async (control, { intent, wait = false }) => {
      for (const end = Date.now() + MESSAGE_LIMIT_MS; ; await delay(200)) {
        const messages = await control.messages(intent);
        if (messages.length > 0 || !wait || Date.now() > end) return messages;
      }
    },
    (messages) =>
      table(
        ["AT", "PROVIDER", "INTENT", "CHANNEL", "TO", "CODE"],
        messages.map(({ at, provider, intent, channel, to, otp }) => [
          at,
          provider,
          intent ?? "",
          channel,
          to,
          otp ?? "",
        ]),
      ),
  )
    .option("--intent <intent>", "only about this one")
    .option("--wait", "until there is one, for a minute");
  addSandboxCommand(
    sandbox,
    "requests",
    { summary: "the newest requests", example: "trustflow sandbox requests" },
    (control) => control.requests(),
  );
  addSandboxCommand(
    sandbox,
    "callbacks",
    { summary: "the newest callbacks it sent", example: "trustflow sandbox callbacks" },
    (control) => control.callbacks(),
  );
  addClock(sandbox);
  addSandboxFaults(sandbox);
  addItems(sandbox);
}

function addClock(sandbox: Command): void {
  addSandboxCommand<{ speed?: Speed }, unknown>(
    sandbox,
    "clock",
    {
      summary: "the virtual clock, and its speed",
      example: "trustflow sandbox clock --speed 3600",
    },
    (control, options) =>
      options.speed === undefined ? control.clock() : control.setSpeed(options.speed),
  ).option("--speed <factor>", "virtual seconds per second, or manual, or auto", speed);
  addSandboxCommand(
    sandbox,
    "advance <span>",
    {
      summary: "move the virtual clock on, and do all that was due",
      example: "trustflow sandbox advance 60d",
    },
    (control, _options, text) => control.advance(span(text)),
  );
}

function addItems(sandbox: Command): void {
  addSandboxCommand<ItemFilter, Awaited<ReturnType<SandboxControl["items"]>>>(
    sandbox,
    "items",
    { summary: "the items that the provider has", example: "trustflow sandbox items --state Sent" },
    (control, filter) => control.items(filter),
    ({ items }) =>
      table(
        ["ID", "INTENT", "STATE", "OUTCOME", "CREATED"],
        items.map(({ id, intent, state, outcome, createdAt }) => [
          id,
          intent ?? "",
          state,
          outcome,
          createdAt,
        ]),
      ),
  )
    .option("--intent <key>", "only this LookupKey")
    .option("--state <state>", "only in this state")
    .option("--limit <n>", "at most so many", wholeNumber(1))
    .option("--offset <n>", "from this one on", wholeNumber());
  addSandboxCommand(
    sandbox,
    "item <id>",
    { summary: "one item with all it knows", example: "trustflow sandbox item 4f1c" },
    (control, _, id) => control.item(id),
  );
  addSandboxCommand<Move, unknown>(
    sandbox,
    "move <id>",
    {
      summary: "bring an item into a state",
      example: "trustflow sandbox move 4f1c --state Closed --outcome Delivered",
    },
    (control, move, id) => control.move(id, move),
  )
    .requiredOption("--state <state>", "as the provider spells it")
    .option("--outcome <outcome>", "with Closed")
    .option("--keep-plan", "go on with the planned lifecycle afterwards");
  addSandboxCommand<Publication, unknown>(
    sandbox,
    "publish <id>",
    { summary: "publish an affidavit of an item", example: "trustflow sandbox publish 4f1c" },
    (control, publication, id) => control.publishAffidavit(id, publication),
  )
    .option("--regenerates <affidavit>", "the affidavit that is published again")
    .option("--request-id <id>", "the on-demand request that it answers");
  addSandboxCommand(
    sandbox,
    "accounts",
    { summary: "its accounts, without passwords", example: "trustflow sandbox accounts" },
    (control) => control.accounts(),
  );
  addSandboxCommand(
    sandbox,
    "reset",
    {
      summary: "empty everything but accounts, clock and seed",
      example: "trustflow sandbox reset",
    },
    (control) => control.reset(),
  );
}
