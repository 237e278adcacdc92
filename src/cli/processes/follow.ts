// Follows a process to its end, or to where it waits for a person; shared by `watch`, `result` and the starts with `--watch`.
import type { AnyHandle, ProcessHandle } from "../../client.js";
import { Option } from "commander";
import type { Command } from "commander";
import { outcomesOf } from "../../contracts/registry.js";
import { processes } from "../../contracts/shared/names.js";
import type { ProcessResult, ProcessStatus } from "../../contracts/shared/status.js";
import { hasCapability } from "./capability.js";
import { CodeDialogue } from "./code-dialogue.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { writeData, writeJsonLine } from "../output/output.js";
import { ProgressLines } from "./show.js";
import { linesOf } from "../output/terminal.js";

export interface FollowOptions {
  json?: boolean;
  keepWaiting?: boolean;
  expect?: string;
}

/** `outcomes`: those that `--expect` takes. */
export function addFollowOptions(command: Command, outcomes: string[]): Command {
  return command
    .option("--keep-waiting", "do not end with 5 where it waits for a person")
    .addOption(
      new Option("--expect <outcome>", "end with 1 on any other outcome").choices(outcomes),
    );
}

/** Of any process. */
export function allOutcomes(): string[] {
  return [...new Set(processes.flatMap(outcomesOf))];
}

/** Prints each change; ends as `resultOf` does, and with 1 on another outcome than the expected one. */
export async function watchProcess(handle: AnyHandle, options: FollowOptions): Promise<void> {
  const progress = new ProgressLines();
  const asksForCodes = !options.json && isOnTerminal() && hasCapability(handle, "submitOtp");
  const codes = asksForCodes ? new CodeDialogue(handle) : undefined;
  try {
    const result = await resultOf(handle, options, (status) => {
      if (options.json) return writeJsonLine(status);
      const lines = progress.linesOf(status);
      if (lines.length > 0) writeData(linesOf(lines));
      codes?.follow(status);
    });
    requireOutcome(result, options);
  } finally {
    await codes?.end();
  }
}

export function requireOutcome(
  { process: processName, id, outcome }: ProcessResult,
  { expect }: FollowOptions,
): void {
  if (expect === undefined || outcome === expect) return;
  throw new CommandError(
    exitCodes.failed,
    `${processName}/${id} ended as ${outcome}, not as ${expect}`,
  );
}

/** The result, once there is one; throws exit code 5 where it waits for a person, 1 where it failed. */
export async function resultOf(
  handle: ProcessHandle<ProcessResult>,
  { keepWaiting }: FollowOptions,
  onStatus?: (status: ProcessStatus) => void,
): Promise<ProcessResult> {
  // Whoever wants the result alone needs no worker to ask, once there is one.
  if (onStatus || (await handle.isOpen())) {
    for await (const status of handle.watch()) {
      onStatus?.(status);
      const attention = keepWaiting ? undefined : await openAttention(handle, status);
      if (attention) throw waitsForPerson(handle.workflowId, attention);
    }
  }
  return handle.result().catch(failed(handle.workflowId));
}

/** What a person has to decide; a process that was terminated still shows its attention, but takes no decision. */
export async function openAttention(
  handle: ProcessHandle<ProcessResult>,
  { attention }: ProcessStatus,
): Promise<ProcessStatus["attention"]> {
  return attention && (await handle.isOpen()) ? attention : undefined;
}

/** With a person before it, whose input has not been read to its end already. */
function isOnTerminal(): boolean {
  const { stdin, stdout } = process;
  return stdin.isTTY && stdout.isTTY && !stdin.readableEnded;
}

function waitsForPerson(
  workflowId: string,
  { id, reason }: NonNullable<ProcessStatus["attention"]>,
): CommandError {
  return new CommandError(
    exitCodes.waitsForPerson,
    `${workflowId} waits for a person (attention ${id}): ${reason}; see "trustflow resolve --help"`,
  );
}

// What was invalid was the process's input: its end, not this command's usage.
function failed(workflowId: string): (error: Error) => never {
  return (error) => {
    if (["InvalidInputError", "InputMismatchError"].includes(error.name)) {
      const { fields } = error as { fields?: CommandError["fields"] };
      throw new CommandError(exitCodes.failed, `${workflowId} failed: ${error.message}`, fields);
    }
    throw error;
  };
}
