// `trustflow webhooks`: operators read the log of deliveries, send them again and test an endpoint (docs/webhooks.md).
import { setTimeout as delay } from "node:timers/promises";
import { type Command, Option } from "commander";
import type { Config } from "../../config/config.js";
import { suggestionFor } from "../../contracts/shared/nearest.js";
import { Deliveries, deliveryStates } from "../../webhooks/deliveries.js";
import type { Attempt, Delivery, DeliveryState } from "../../webhooks/deliveries.js";
import { newSecret } from "../../webhooks/signature.js";
import { temporalSettings } from "../../roles/temporal.js";
import { addCommand } from "../command.js";
import { withDatabase } from "../context.js";
import { CommandError, exitCodes, usageError } from "../output/exit.js";
import { facts, factsOf, writeAnswer, writeData, writeJson, writeList } from "../output/output.js";
import type { Columns, ListFormat } from "../output/output.js";
import { addPaging, listedNumber, sayReplayed, writePage } from "./numbered.js";
import { terminal } from "../output/terminal.js";

interface ListOptions extends ListFormat {
  state?: DeliveryState;
  endpoint?: string;
  before?: string;
  limit: number;
}

/** The relay asks for due deliveries every two seconds, and gives an endpoint fifteen. */
const TEST_LIMIT_MS = 30_000;

export function addWebhooks(program: Command): void {
  const webhooks = addCommand(program, "webhooks", {
    summary: "list the webhooks that were sent, send them again, and test an endpoint",
    example: "trustflow webhooks list --state failed",
    isGroup: true,
  });
  addList(webhooks);
  addCommand(webhooks, "show <delivery>", {
    summary: "show one delivery with its event and each attempt",
    arguments: { delivery: 'its number, as "webhooks list" shows it' },
    example: "trustflow webhooks show 42",
  }).action((id: string, { json }: { json?: boolean }) =>
    withDeliveries(async (deliveries) => {
      const found = await deliveries.show(rowId(id));
      if (!found) throw new CommandError(exitCodes.unknownId, `Unknown delivery ${id}`);
      if (json) return writeJson(found);
      const { attempts, event, ...rest } = found;
      writeData(factsOf({ ...rest, event: JSON.stringify(event) }));
      writeList({}, attempts, {
        ATTEMPT: "at",
        RESULT: (one) => adviceOn(one, found.endpoint),
        MS: "ms",
      });
    }),
  );
  addReplay(webhooks);
  addTest(webhooks);
  addCommand(webhooks, "secret", {
    summary: "print a new secret, by which webhooks are signed",
    details: "It goes into webhooks.NAME.secret, and to the receiver.",
    example: "trustflow webhooks secret",
  }).action(({ json }: { json?: boolean }) => {
    const secret = newSecret();
    writeAnswer(json, { secret }, terminal`${secret}`);
  });
}

function addList(webhooks: Command): void {
  const command = addCommand(webhooks, "list", {
    summary: "list deliveries, newest first",
    example: "trustflow webhooks list --state failed",
  })
    .addOption(
      new Option("--state <state>", "only deliveries in this state").choices(deliveryStates),
    )
    .option("--endpoint <name>", "only deliveries to this endpoint");
  addPaging(command, "delivery").action(({ state, endpoint, before, ...page }: ListOptions) =>
    withDeliveries(async (deliveries) => {
      const rows = await deliveries.list({
        limit: page.limit + 1,
        ...(state && { states: [state] }),
        ...(endpoint !== undefined && { endpoint }),
        ...(before !== undefined && { before: rowId(before) }),
      });
      writePage(rows, columns, page);
    }),
  );
}

function addReplay(webhooks: Command): void {
  addCommand(webhooks, "replay [delivery...]", {
    summary: "send delivered or failed webhooks again",
    arguments: { delivery: 'their numbers, as "webhooks list" shows them; none with --failed' },
    details:
      "They keep their id, by which the receiver knows what it has already.\nEnds with 1 if one of them still waits, or is unknown.",
    example: "trustflow webhooks replay 42 43\ntrustflow webhooks replay --failed billing",
  })
    .option("--failed <endpoint>", "all that have failed at this endpoint")
    .action((given: string[], { failed, json }: { failed?: string; json?: boolean }) =>
      withDeliveries(async (deliveries, { webhooks: configured }) => {
        if ((failed === undefined) === (given.length === 0))
          throw usageError("delivery: give either deliveries or --failed");
        const ids = given.map(rowId);
        if (failed !== undefined) requireEndpoint(configured, failed);
        const replayed =
          failed === undefined
            ? await deliveries.replay(ids)
            : await deliveries.replayFailed(failed);
        const all = failed === undefined ? ids : replayed;
        sayReplayed(json, all, replayed, "it still waits, or is unknown");
        if (failed !== undefined && !json) writeData(terminal`${replayed.length} replayed`);
      }),
    );
}

function addTest(webhooks: Command): void {
  addCommand(webhooks, "test <endpoint>", {
    summary: "have the relay send a test event to an endpoint, and print the result",
    arguments: { endpoint: "its name in the configuration" },
    details:
      "It is signed like any other and tells of no process.\nEnds with 1 if the endpoint does not take it at the first attempt.",
    example: "trustflow webhooks test billing",
  }).action((endpoint: string, { json }: { json?: boolean }) =>
    withDeliveries(async (deliveries, { webhooks: configured }) => {
      requireEndpoint(configured, endpoint);
      const id = await deliveries.test(endpoint);
      const tried = await firstAttempt(deliveries, id);
      const result = tried?.attempts[0];
      const shown = result
        ? adviceOn(result, endpoint)
        : "the relay has not sent it: does it run, with this endpoint?";
      const text = facts([
        ["delivery", id],
        ["result", shown],
      ]);
      writeAnswer(json, { delivery: id, ...result }, text);
      if (tried?.state !== "delivered") process.exitCode = exitCodes.failed;
    }),
  );
}

/** An operator's configuration may have none. */
function requireEndpoint(configured: Config["webhooks"], endpoint: string): void {
  const names = Object.keys(configured);
  if (names.length > 0 && !names.includes(endpoint))
    throw usageError(
      `endpoint: webhooks.${endpoint} is not configured; ${suggestionFor(endpoint, names)}`,
    );
}

/** Undefined where the relay has made none in time. */
async function firstAttempt(deliveries: Deliveries, id: string): Promise<Delivery | undefined> {
  for (const end = Date.now() + TEST_LIMIT_MS; Date.now() < end; await delay(250)) {
    const found = await deliveries.show(id);
    if (found && found.attempts.length > 0) return found;
  }
  return undefined;
}

const columns: Columns<Delivery> = {
  ID: "id",
  CREATED: "createdAt",
  STATE: "state",
  ENDPOINT: "endpoint",
  TYPE: ({ event }) => event.type,
  PROCESS: ({ event: { data } }) => ("process" in data ? `${data.process}/${data.id}` : ""),
  ATTEMPTS: ({ attempts }) => String(attempts.length),
  "LAST RESULT": ({ attempts }) => attempts.slice(-1).map(resultOf)[0],
};

const resultOf = ({ status, problem = "", refused }: Attempt) =>
  status === undefined ? [problem, refused].filter(Boolean).join(" ") : String(status);

function adviceOn(attempt: Attempt, endpoint: string): string {
  const advice = `; with webhooks.${endpoint}.allowPrivate = true the relay goes there`;
  return resultOf(attempt) + (attempt.problem === "privateAddress" ? advice : "");
}

async function withDeliveries(
  work: (deliveries: Deliveries, config: Config) => Promise<void>,
): Promise<void> {
  await withDatabase(async (pool, config) => {
    const { namespace } = await temporalSettings();
    await work(new Deliveries(pool, namespace), config);
  });
}

const rowId = (text: string) => listedNumber(text, "delivery", "webhooks");
