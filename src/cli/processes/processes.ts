// Commands that read one process: status, watch, result.
import type { AnyHandle } from "../../client.js";
import type { ProcessStatus } from "../../contracts/shared/status.js";
import type { Command } from "commander";
import { addCommand, processArgument } from "../command.js";
import { processId, withProcess } from "../context.js";
import { exitCodes } from "../output/exit.js";
import {
  addFollowOptions,
  openAttention,
  allOutcomes,
  requireOutcome,
  resultOf,
  watchProcess,
} from "./follow.js";
import type { FollowOptions } from "./follow.js";
import { writeData, writeJson, writeNote, writeJsonText } from "../output/output.js";
import { resultText, statusText } from "./show.js";
import { terminal } from "../output/terminal.js";
import type { ProcessName } from "../../contracts/registry.js";

interface StatusOptions {
  json?: boolean;
  timeline?: boolean;
  full?: boolean;
}

async function statusOf(
  handle: AnyHandle,
  { timeline, full }: StatusOptions,
): Promise<ProcessStatus> {
  if (full) return handle.fullStatus();
  if (!timeline) return handle.status();
  const { earlierEntries: _, ...status } = await handle.status();
  return { ...status, timeline: await handle.timeline() };
}

export function addProcessCommands(program: Command): void {
  addCommand(program, "status <id>", {
    summary: "show the status of a process",
    arguments: { id: processId },
    details: `Ends with 5 if the process needs an operator decision, with 1 if it has failed.
It needs no worker, except for --timeline and --full of an open process. --full shows the documents so far, and personal data: whom the provider names,
and of a certified notice the address and the browser of the reader, as callbacks reported them.`,
    example: "trustflow status sendPostal/order-7",
  })
    .option("--timeline", "show every entry of the timeline, also the older ones")
    .option(
      "--full",
      "also show the documents, and what the provider has said of the communication and its reader",
    )
    .action((id: string, options: StatusOptions) =>
      withProcess(id, async (handle) => {
        const status = await statusOf(handle, options);
        // Only a text may fail on what a later release says.
        if (options.json) writeJson(status);
        else writeData(statusText(status));
        if (await openAttention(handle, status)) process.exitCode = exitCodes.waitsForPerson;
        else if (status.failure) process.exitCode = exitCodes.failed;
        else if (status.attention)
          writeNote(terminal`${handle.workflowId} has ended: there is nothing to decide`);
      }),
    );

  const watch = addCommand(program, "watch <id>", {
    summary: "follow a process to its end",
    arguments: { id: processId },
    details: `Ends with 5 as soon as the process needs an operator decision. --json prints one status per line (JSON Lines).
On a terminal, without --json, it asks for the holder's code where the process waits for one.`,
    example: "trustflow watch order-7 --json",
  });
  addFollowOptions(watch, allOutcomes()).action((id: string, options: FollowOptions) =>
    withProcess(id, (handle) => watchProcess(handle, options)),
  );

  const result = addCommand(program, "result <id>", {
    summary: "wait for the end of a process and print its result",
    arguments: { id: processId },
    details: `Ends with 5 as soon as the process needs an operator decision, with 1 if it failed.`,
    example: "trustflow result order-7 --expect delivered",
  });
  addFollowOptions(result, allOutcomes()).action((id: string, options: FollowOptions) =>
    withProcess(id, async (handle) => {
      const found = await resultOf(handle, options);
      if (options.json) writeJson(found);
      else writeData(resultText(found));
      requireOutcome(found, options);
    }),
  );
}

export function addExample(program: Command): void {
  addCommand(program, "example", {
    summary: "print a valid input of a process, with comments",
    details: `--input takes it as it is: comments are allowed there. --json prints it without comments. In place of a document, the
input may name a file: { "path": "letter.pdf" }.`,
    example:
      "trustflow example sendPostal > letter.json\ntrustflow send-postal --input letter.json --dry-run",
  })
    .addArgument(processArgument())
    .action(async (processName: ProcessName, { json }: { json?: boolean }) => {
      const { commentedExampleOf, exampleOf } = await import("../../contracts/example.js");
      if (json) writeJson(exampleOf(processName));
      else writeJsonText(commentedExampleOf(processName));
    });
}
