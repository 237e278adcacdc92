// One letter of the crash points: started, asked, followed to its end, and judged by the sandbox's ledger, by its end, and by the effect
// class of its call (docs/reading-the-specification.md §0).
import { setTimeout as delay } from "node:timers/promises";
import type { PostalHandle, Trustflow } from "../../../src/client.js";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import type { Sandbox } from "../../../packages/sandbox/src/sandbox.js";
import { eventually } from "../../harness/outages/wait.js";
import type { CallUnderTest } from "../../processes/process-under-test.js";
import { sendPostalUnderTest as letter } from "../../processes/send-postal/under-test.js";

export type CallOfLetter = CallUnderTest<PostalHandle>;

/** Where it runs. */
export interface Field {
  trustflow: Trustflow;
  sandbox: Sandbox;
  account: string;
  /** Look-ups of the account do not find our items: then a keyed call is treated as class `once`. */
  isBlind?: true;
}

export interface CrashRow {
  call: string;
  phase: string;
  /** `parked`: the outcome is unknown, and the process says so; only if the class allows nothing better. */
  ending: "once" | "parked" | "double" | "lost";
  /** What the ledger has of this effect. */
  effects: number;
  /** What a caller was answered, then how the process ended, and what was done too often. */
  told: string;
}

/** By the update. */
const goodAnswers: Record<string, string> = { cancel: "cancelled", requestAffidavit: "requested" };
/** Virtual time after which every way of a letter has ended. */
const SPAN_MS = 60 * 86_400_000;
/** Longer than a lease: until it is over, the replacement does not know. */
const ANSWERS_WITHIN_MS = 60_000;
/** An answer comes within 15 s of the question, and a silent worker is noticed after 6: so long may the rest take. */
const MAX_HOLD_MS = 4_000;
const MAX_UNTIL_REPLACEMENT_MS = 9_000;
/** An attention that ends by itself, by a late answer, is not the end. */
const PARKED_FOR_GOOD_MS = 4_000;
/** The answer of a process that has ended. */
const finished = "FinishedError";
/** Many processes at once take their time. */
export const LIMIT_MS = 180_000;

export class Run {
  readonly field: Field;
  readonly id: string;
  readonly call: CallOfLetter;
  interruptedAt = 0;
  /** When another worker was up. */
  replacementAt = 0;
  /** Its outcome, the kind of its attention, or what went wrong; undefined while that is open. */
  #end: string | undefined;
  #handle: PostalHandle | undefined;
  #answers: Promise<string[]> = Promise.resolve([]);
  #askedAt = 0;
  #parkedAt: number | undefined;

  constructor(field: Field, name: string, call: CallOfLetter) {
    this.field = field;
    this.id = `${field.account}-${name}-${call.operation}`;
    this.call = call;
  }

  get workflowId(): string {
    return `${letter.process}/${this.id}`;
  }

  get workflow() {
    return this.field.trustflow.temporal.workflow.getHandle(this.workflowId);
  }

  /** The same again, after a termination. */
  async start(): Promise<void> {
    const { trustflow, account } = this.field;
    const { variant } = this.call;
    const input = { ...variant.input, account };
    this.#handle = await letter.start(trustflow, this.id, { ...variant, input });
  }

  /** The submit is behind it: as the visibility says, because a query may disturb the history (docs/decisions/0015). */
  async tracked(): Promise<void> {
    const phaseOf = async () => {
      const { typedSearchAttributes } = await this.workflow.describe();
      return typedSearchAttributes.get(searchAttributes.phase);
    };
    await eventually(`${this.id} is tracked`, phaseOf, LIMIT_MS);
  }

  /** Like a caller: asks again where no worker answered, where it may, or where nothing was done. */
  ask(): void {
    if (!this.call.ask) return;
    this.#askedAt ||= Date.now();
    this.#answers = this.#answersUntilKnown();
    this.#answers.catch(() => undefined);
  }

  async answered(): Promise<void> {
    await this.#answers;
  }

  /** Whether it has ended, or its end cannot be known. */
  async look(): Promise<boolean> {
    if (this.#end !== undefined) return true;
    const { status, typedSearchAttributes } = await this.workflow.describe();
    if (status.name === "RUNNING") {
      const attention = typedSearchAttributes.get(searchAttributes.attention);
      const isParked = attention === "unknownOutcome";
      this.#parkedAt = isParked ? (this.#parkedAt ?? Date.now()) : undefined;
      if (this.#parkedAt && Date.now() - this.#parkedAt > PARKED_FOR_GOOD_MS) this.#end = attention;
    } else {
      this.#end = await this.#handle?.result().then(
        ({ outcome }) => outcome,
        (error: Error) => error.name,
      );
    }
    return this.#end !== undefined;
  }

  async #answersUntilKnown(): Promise<string[]> {
    const answers: string[] = [];
    const end = Date.now() + ANSWERS_WITHIN_MS;
    for (;;) {
      const answer = await this.#answer(`ask-${answers.length}`);
      answers.push(answer);
      const { effectClass } = this.call;
      const again = answer === "unavailable" || (answer === "unknown" && effectClass !== "once");
      if (!again || Date.now() > end) return answers;
      await delay(1_000);
    }
  }

  async #answer(updateId: string): Promise<string> {
    const scene = { sandboxUrl: this.field.sandbox.url, intent: this.id };
    for (let left = 3; ; left -= 1) {
      try {
        return (await this.call.ask!(this.#handle!, updateId, scene)).answer;
      } catch (error) {
        const { name } = error as Error;
        if (name === finished) return name;
        if (left === 0 || name !== "UnreachableError") throw error;
      }
    }
  }

  async row(phase: string): Promise<CrashRow> {
    const { isBlind, sandbox } = this.field;
    const { operation, sandbox: effect, effectClass, outcome } = this.call;
    const { byIntent, violations } = sandbox.ledger(this.id);
    const found = byIntent[this.id] ?? {};
    const answers = await this.#answers.catch((error: Error) => [error.name]);
    const [last, end] = [answers.at(-1), this.#end ?? "open"];
    const wanted: Record<string, number> = { ...letter.effects, [effect]: 1 };
    const isOnce = isBlind ?? effectClass === "once";
    const tooMuch = Object.entries(found).flatMap(([name, n]) =>
      n > (wanted[name] ?? 0) ? [`${n} × ${name}`] : [],
    );
    // A caller who tries again and learns that the process has ended reads the outcome.
    const isGood =
      end === outcome &&
      (last === goodAnswers[operation] || (last === finished && !isOnce)) &&
      Object.entries(wanted).every(([name, n]) => found[name] === n);
    const isHeldTooLong =
      this.#askedAt > 0 &&
      (this.interruptedAt - this.#askedAt > MAX_HOLD_MS ||
        this.replacementAt - this.#askedAt > MAX_UNTIL_REPLACEMENT_MS);
    // A frozen worker still holds its polls: a task that it receives is too late for a caller, but not for the process.
    const isUnheard = phase.endsWith("splitBrain") && end === outcome;
    // The answer is in the journal, and the replacement has to return it.
    const isAnswered = phase.startsWith("beforeTemporal") && !isHeldTooLong && !isUnheard;
    const isParked = end === "unknownOutcome" || last === "unknown";
    const kinds = violations.map(({ kind }) => kind);
    return {
      call: operation,
      phase,
      ending:
        kinds.length + tooMuch.length > 0
          ? "double"
          : isGood
            ? "once"
            : isParked && isOnce && !isAnswered
              ? "parked"
              : "lost",
      effects: found[effect] ?? 0,
      told: [...answers, end, ...kinds, ...tooMuch].join(", "),
    };
  }
}

/** Lets virtual time pass until all have ended; what has not by then stays open. */
export async function settle(runs: Run[]): Promise<void> {
  const sandboxes = new Set(runs.map(({ field }) => field.sandbox));
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; await delay(500)) {
    for (const { clock } of sandboxes) await clock.advance(SPAN_MS);
    const ended = await Promise.all(runs.map((run) => run.look().catch(() => false)));
    if (ended.every(Boolean)) return;
  }
}
