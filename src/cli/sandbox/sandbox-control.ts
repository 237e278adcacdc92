// `trustflow sandbox <sub-command>` controls a running sandbox over its control API.
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
    { summary: "show a summary of its state", example: "trustflow sandbox state" },
    (control) => control.state(),
  );
  addSandboxCommand<{ intent?: string }, Awaited<ReturnType<SandboxControl["ledger"]>>>(
    sandbox,
    "ledger",
    {
      summary: "list the effects that would have happened in the real world",
      details: "Ends with 1 if an effect happened twice or a call violated the protocol.",
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
  ).option("--intent <key>", "only items with this LookupKey");
  addSandboxCommand<
    { intent?: string; wait?: boolean },
    Awaited<ReturnType<SandboxControl["messages"]>>
  >(
    sandbox,
    "messages",
    {
      summary: "list the SMS and e-mails that would have been sent, with their codes",
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
    .option("--intent <intent>", "only messages of this intent")
    .option("--wait", "wait for a message, up to one minute");
  addSandboxCommand(
    sandbox,
    "requests",
    { summary: "list the newest requests", example: "trustflow sandbox requests" },
    (control) => control.requests(),
  );
  addSandboxCommand(
    sandbox,
    "callbacks",
    { summary: "list the newest callbacks that it sent", example: "trustflow sandbox callbacks" },
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
      summary: "show the virtual clock, or set its speed",
      example: "trustflow sandbox clock --speed 3600",
    },
    (control, options) =>
      options.speed === undefined ? control.clock() : control.setSpeed(options.speed),
  ).option(
    "--speed <factor>",
    "speed of the virtual clock: virtual seconds per second, or manual, or auto",
    speed,
  );
  addSandboxCommand(
    sandbox,
    "advance <span>",
    {
      summary: "advance the virtual clock and run everything that becomes due",
      example: "trustflow sandbox advance 60d",
    },
    (control, _options, text) => control.advance(span(text)),
  );
}

function addItems(sandbox: Command): void {
  addSandboxCommand<ItemFilter, Awaited<ReturnType<SandboxControl["items"]>>>(
    sandbox,
    "items",
    { summary: "list the provider's items", example: "trustflow sandbox items --state Sent" },
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
    .option("--intent <key>", "only items with this LookupKey")
    .option("--state <state>", "only in this state")
    .option("--limit <n>", "maximum number of rows", wholeNumber(1))
    .option("--offset <n>", "number of rows to skip", wholeNumber());
  addSandboxCommand(
    sandbox,
    "item <id>",
    { summary: "show one item in full", example: "trustflow sandbox item 4f1c" },
    (control, _, id) => control.item(id),
  );
  addSandboxCommand<Move, unknown>(
    sandbox,
    "move <id>",
    {
      summary: "move an item into a state",
      example: "trustflow sandbox move 4f1c --state Closed --outcome Delivered",
    },
    (control, move, id) => control.move(id, move),
  )
    .requiredOption("--state <state>", "state, in the provider's spelling")
    .option("--outcome <outcome>", "outcome, with the state Closed")
    .option("--keep-plan", "continue the planned lifecycle afterwards");
  addSandboxCommand<Publication, unknown>(
    sandbox,
    "publish <id>",
    { summary: "publish an affidavit of an item", example: "trustflow sandbox publish 4f1c" },
    (control, publication, id) => control.publishAffidavit(id, publication),
  )
    .option("--regenerates <affidavit>", "affidavit that is published again")
    .option("--request-id <id>", "on-demand request that the affidavit answers");
  addSandboxCommand(
    sandbox,
    "accounts",
    { summary: "list its accounts, without passwords", example: "trustflow sandbox accounts" },
    (control) => control.accounts(),
  );
  addSandboxCommand(
    sandbox,
    "reset",
    {
      summary: "delete everything except accounts, clock and seed",
      example: "trustflow sandbox reset",
    },
    (control) => control.reset(),
  );
}
