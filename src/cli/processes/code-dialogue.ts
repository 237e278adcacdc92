// Asks for the holder's codes while a person watches a process on a terminal. The terminal does not show what is typed.
import type { ProcessStatus } from "../../contracts/shared/status.js";
import type { HandleWith } from "../context.js";
import { failureOf } from "../output/exit.js";
import { enteredLines } from "../entered.js";
import { writeData, writeFailure } from "../output/output.js";
import { answerText } from "./show.js";

/** Asks for a code each time the watched process waits for one, until a code is accepted or stdin ends. */
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
      writeData(answerText(answer));
      return answer.answer === "accepted";
    } catch (error) {
      writeFailure(failureOf(error));
      return false;
    }
  }
}
