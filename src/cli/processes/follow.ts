// Follows a process until it ends or needs an operator decision; `watch`, `result` and the start commands with `--watch` use it.
import { TrustflowError } from "../../errors/index.js";
import type { AnyHandle, ProcessHandle } from "../../client.js";
import { Option } from "commander";
import type { Command } from "commander";
import { outcomesOf, processes } from "../../contracts/registry.js";
import type { ProcessResult, ProcessStatus } from "../../contracts/shared/status.js";
import { hasCapability } from "../context.js";
import type { HandleWith } from "../context.js";
import { childAsking } from "./children.js";
import { CommandError, exitCodes, failureOf } from "../output/exit.js";
import { LiveLine, writeData, writeJsonLine, writeFailure } from "../output/output.js";
import { BatchProgressLine } from "../../contracts/send-notice-batch/progress-line.js";
import { ProgressLines, answerText } from "./show.js";
import { linesOf, terminal } from "../output/terminal.js";
import { enteredLines } from "../entered.js";

export interface FollowOptions {
  json?: boolean;
  keepWaiting?: boolean;
  expect?: string;
}

/** `outcomes`: the values that `--expect` accepts. */
export function addFollowOptions(command: Command, outcomes: string[]): Command {
  return command
    .option("--keep-waiting", "do not end with 5 when the process needs an operator decision")
    .addOption(
      new Option(
        "--expect <outcome>",
        "end with 1 if the process ends with another outcome",
      ).choices(outcomes),
    );
}

export function allOutcomes(): string[] {
  return [...new Set(processes.flatMap(outcomesOf))];
}

/** Prints each change. Ends as `resultOf` does, and with 1 if the outcome is not the expected one. */
export async function watchProcess(handle: AnyHandle, options: FollowOptions): Promise<void> {
  const progress = new ProgressLines();
  const batch = new LiveLine();
  const counted = new BatchProgressLine();
  const asksForCodes = !options.json && isOnTerminal() && hasCapability(handle, "submitOtp");
  const codes = asksForCodes ? new CodeDialogue(handle) : undefined;
  try {
    const result = await resultOf(handle, options, async (status) => {
      if (options.json) return writeJsonLine(status);
      const lines = await progress.linesWith(status, () =>
        handle.timeline().catch((error: unknown) => {
          if (!(error instanceof TrustflowError)) throw error;
        }),
      );
      batch.clear();
      if (lines.length > 0) writeData(linesOf(lines));
      const line = counted.lineOf(status);
      if (line !== undefined) batch.show(terminal`${line}`);
      codes?.follow(status);
    });
    requireOutcome(result, options);
  } finally {
    batch.clear();
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

/** Waits for the result. Throws exit code 5 if the process needs an operator decision, and 1 if it failed. */
export async function resultOf(
  handle: ProcessHandle<ProcessResult>,
  { keepWaiting }: FollowOptions,
  onStatus?: (status: ProcessStatus) => Promise<void> | void,
): Promise<ProcessResult> {
  // If only the result is wanted and the process has ended, no worker is needed.
  if (onStatus || (await handle.isOpen())) {
    for await (const status of handle.watch()) {
      await onStatus?.(status);
      const asking = keepWaiting ? undefined : await openAttention(handle, status);
      if (asking)
        throw new CommandError(
          exitCodes.waitsForPerson,
          `${asking.workflowId} needs an operator decision (attention ${asking.attention.id}): ${asking.attention.reason}; see "trustflow resolve --help"`,
        );
    }
  }
  return handle.result().catch(failed(handle.workflowId));
}

/** An open attention, and the process that has it. */
interface Asking {
  workflowId: string;
  attention: Pick<NonNullable<ProcessStatus["attention"]>, "id" | "reason">;
}

/** Its own, or that of a process that it has started. A terminated process still shows its attention, but accepts no decision. */
export async function openAttention(
  handle: ProcessHandle<ProcessResult>,
  status: ProcessStatus,
): Promise<Asking | undefined> {
  const { attention } = status;
  const asking = attention ? { workflowId: handle.workflowId, attention } : childAsking(status);
  return asking && (await handle.isOpen()) ? asking : undefined;
}

/** Whether a person uses this terminal and stdin has not ended. */
function isOnTerminal(): boolean {
  const { stdin, stdout } = process;
  return stdin.isTTY && stdout.isTTY && !stdin.readableEnded;
}

// The input of the process was invalid, not the usage of this command.
function failed(workflowId: string): (error: Error) => never {
  return (error) => {
    if (["InvalidInputError", "InputMismatchError"].includes(error.name)) {
      const { fields } = error as { fields?: CommandError["fields"] };
      throw new CommandError(exitCodes.failed, `${workflowId} failed: ${error.message}`, fields);
    }
    throw error;
  };
}

/** Asks for a code each time the watched process waits for one, until a code is accepted or stdin ends. */
class CodeDialogue {
  readonly #handle: HandleWith<"submitOtp">;
  #asking: Promise<void> = Promise.resolve();
  #stop: AbortController | undefined;
  #isOver = false;

  constructor(handle: HandleWith<"submitOtp">) {
    this.#handle = handle;
  }

  follow({ phase, attention }: ProcessStatus): void {
    if (phase !== "waiting" || attention || this.#isOver) {
      this.#stop?.abort();
      this.#stop = undefined;
    } else if (!this.#stop) {
      const { signal } = (this.#stop = new AbortController());
      this.#asking = this.#asking.then(() => this.#ask(signal));
    }
  }

  /** Waits for the answer to the last code, if one is in progress. */
  async end(): Promise<void> {
    this.#stop?.abort();
    await this.#asking;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const prompt = `The holder's code for ${this.#handle.workflowId} (not shown; an empty line sends another):`;
    for await (const code of enteredLines(prompt, signal)) {
      if (await this.#isAccepted(code)) break;
    }
    this.#isOver ||= !signal.aborted;
  }

  async #isAccepted(code: string): Promise<boolean> {
    try {
      const answer =
        code === "" ? await this.#handle.resendOtp() : await this.#handle.submitOtp(code);
      writeData(answerText(answer, this.#handle.workflowId));
      return answer.answer === "accepted";
    } catch (error) {
      writeFailure(failureOf(error));
      return false;
    }
  }
}
