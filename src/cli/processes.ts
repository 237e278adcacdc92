// The commands about one process: status, watch, result, cancel, request-affidavit.
import type { Command } from "commander";
import type { PostalHandle } from "../client.js";
import { addCommand } from "./command.js";
import { withTrustflow } from "./context.js";
import { exitCodes } from "./exit.js";
import {
  addFollowOptions,
  type FollowOptions,
  openAttention,
  requireOutcome,
  resultOf,
  watchProcess,
} from "./follow.js";
import { facts, writeData, writeJson, writeNote } from "./output.js";
import { listed, statusText, timelineLine } from "./show.js";

interface Asked {
  json?: boolean;
}

const idHelp =
  'The ID is "<process>/<business id>", or the business id where only one process has it.';

async function withProcess(
  id: string,
  work: (handle: PostalHandle) => Promise<void>,
): Promise<void> {
  await withTrustflow(async (trustflow) =>
    work((await trustflow.find(id)) as unknown as PostalHandle),
  );
}

export function addProcessCommands(program: Command): void {
  addCommand(program, "status <id>", {
    summary: "where a process stands",
    details: `${idHelp}\nExit code 5 where it waits for a person.`,
    example: "trustflow status sendPostal/order-7",
  }).action((id: string, { json }: Asked) =>
    withProcess(id, async (handle) => {
      const status = await handle.status();
      if (json) writeJson(status);
      else writeData(statusText(status));
      if (await openAttention(handle, status)) process.exitCode = exitCodes.waitsForPerson;
      else if (status.attention) writeNote(`${handle.workflowId} has ended: it waits for nobody`);
    }),
  );

  const watch = addCommand(program, "watch <id>", {
    summary: "follow a process to its end",
    details: `${idHelp}\nEnds with 5 as soon as it waits for a person. --json prints JSON Lines, one status each.`,
    example: "trustflow watch order-7 --json",
  });
  addFollowOptions(watch).action((id: string, options: FollowOptions) =>
    withProcess(id, (handle) => watchProcess(handle, options)),
  );

  const result = addCommand(program, "result <id>", {
    summary: "the result of a process, once it has ended",
    details: `${idHelp}\nWaits for the end; ends with 5 as soon as it waits for a person, with 1 if it failed.`,
    example: "trustflow result order-7 --expect delivered",
  });
  addFollowOptions(result).action((id: string, options: FollowOptions) =>
    withProcess(id, async (handle) => {
      const found = await resultOf(handle, options);
      if (options.json) writeJson(found);
      else {
        writeData(
          [
            facts([
              ["process", `${found.process}/${found.id}`],
              ["outcome", found.outcome],
              ["provider's word", found.providerOutcome],
              ["references", listed(found.references)],
              ...Object.entries(found.dates),
              ...found.documents.map(({ kind, document }): [string, string] => [
                kind,
                document.uri,
              ]),
            ]),
            ...found.timeline.map(timelineLine),
          ].join("\n"),
        );
      }
      requireOutcome(found, options);
    }),
  );

  addCommand(program, "cancel <id>", {
    summary: "cancel what a process does",
    details: `${idHelp}
Answers cancelled, or pending (done right after the submit, which is on its way), and then ends with 0;
with 1 on tooLate, notOwner, notPermitted, unknown, unavailable, and where the process has ended.`,
    example: "trustflow cancel order-7",
  }).action((id: string, options: Asked) =>
    withProcess(id, async (handle) => {
      const { answer } = await handle.cancel();
      sayAnswer({ answer }, answer === "cancelled" || answer === "pending", options);
    }),
  );

  addCommand(program, "request-affidavit <id>", {
    summary: "ask the provider for an affidavit on demand",
    details: `${idHelp}\nEnds with 0 where it was requested, with 1 otherwise.`,
    example: "trustflow request-affidavit order-7 --include-document",
  })
    .option("--include-document", "with the document itself")
    .option("--include-events", "with the events so far")
    .action(
      (id: string, { json, ...asked }: Asked & { includeDocument?: true; includeEvents?: true }) =>
        withProcess(id, async (handle) => {
          const answer = await handle.requestAffidavit(asked);
          sayAnswer(answer, answer.answer === "requested", json ? { json } : {});
        }),
    );
}

function sayAnswer(answer: object, isAsAsked: boolean, { json }: Asked): void {
  if (json) writeJson(answer);
  else writeData(facts(Object.entries(answer) as [string, string][]));
  if (!isAsAsked) process.exitCode = exitCodes.failed;
}
