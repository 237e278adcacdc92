// The holder's code from stdin: one for `otp`, or as many as it takes while a process is watched on a terminal. What is typed is
// not shown.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { ProcessStatus } from "../contracts/status.js";
import type { HandleWith } from "./capability.js";
import { failureOf } from "./exit.js";
import { writeData, writeFailure, writeNote } from "./output.js";
import { terminal } from "./terminal.js";
import { answerText } from "./show.js";

/** The lines that are entered, on a terminal each after the prompt; ends at the end of stdin, or with the signal. */
export async function* enteredCodes(prompt: string, signal?: AbortSignal): AsyncGenerator<string> {
  if (signal?.aborted) return;
  const { stdin } = process;
  const isTerminal = stdin.isTTY;
  const lines = createInterface({
    input: stdin,
    // On a terminal readline itself writes what is typed.
    output: new Writable({ write: (_chunk, _encoding, done) => done() }),
    terminal: isTerminal,
    historySize: 0,
    ...(signal && { signal }),
  });
  lines.on("SIGINT", () => {
    lines.close();
    process.kill(process.pid, "SIGINT");
  });
  try {
    if (isTerminal) writeNote(terminal`${prompt}`);
    for await (const line of lines) {
      yield line.trim();
      if (isTerminal) writeNote(terminal`${prompt}`);
    }
  } finally {
    lines.close();
  }
}

/** Asks for codes whenever a watched process waits for one, until one is accepted or stdin ends. */
export class CodeDialogue {
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

  /** Waits for an answer that is on its way. */
  async end(): Promise<void> {
    this.#stop?.abort();
    await this.#asking;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const prompt = `The holder's code for ${this.#handle.workflowId} (not shown; an empty line sends another):`;
    for await (const code of enteredCodes(prompt, signal)) {
      if (await this.#isAccepted(code)) break;
    }
    this.#isOver ||= !signal.aborted;
  }

  async #isAccepted(code: string): Promise<boolean> {
    try {
      const answer =
        code === "" ? await this.#handle.resendOtp() : await this.#handle.submitOtp(code);
      writeData(answerText(answer));
      return answer.answer === "accepted";
    } catch (error) {
      writeFailure(failureOf(error));
      return false;
    }
  }
}
