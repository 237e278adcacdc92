// One process of the enumeration: started, asked, followed to its end.
import type { WorkflowHandle } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessHandle, Trustflow } from "../../../src/client.js";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import type { Sandbox } from "../../../packages/sandbox/src/sandbox.js";
import { finished, judge, type CrashRow } from "./matrix.js";
import { callerOf } from "../../processes/process-under-test.js";
import type {
  CallUnderTest,
  ProcessUnderTest,
  Scene,
  Variant,
} from "../../processes/process-under-test.js";

/** Where it runs: a namespace, and a provider of its own. */
export interface Field {
  underTest: ProcessUnderTest;
  trustflow: Trustflow;
  namespace: string;
  sandbox: Sandbox;
  /** The account at that provider; default: `default`. */
  account?: string;
  /** Its look-ups do not find our items: only the calls that they would settle are enumerated. */
  isBlind?: boolean;
}

/** The calls of the field: at a blind account, those whose look-up rests on an assumption (docs/decisions/0017). */
export function callsIn({ underTest, isBlind }: Field): CallUnderTest[] {
  return underTest.calls.filter(({ isLookUpAssumed }) => !isBlind || isLookUpAssumed);
}

const MAX_ANSWERS = 6;
/** An answer comes within 15 s of the question, and a silent worker is noticed after 6: so long may the rest take. */
const MAX_HOLD_MS = 4_000;
const MAX_UNTIL_REPLACEMENT_MS = 9_000;
/** An attention that ends by itself, by a late answer, is not the end. */
const PARKED_FOR_GOOD_MS = 4_000;

export class Run {
  readonly field: Field;
  readonly id: string;
  readonly call: CallUnderTest;
  interruptedAt = 0;
  /** When another worker was up. */
  replacementAt = 0;
  /** Known once it has ended, or needs a decision that no test makes. */
  end: string | undefined;
  #endedAt = 0;
  #handle: ProcessHandle<{ outcome: string }> | undefined;
  #answers: Promise<string[]> = Promise.resolve([]);
  #isAbandoned = false;
  #isAnswered = false;
  #askedAt = 0;
  #parkedAt: number | undefined;
  /** A person knows no answer to what they did. */
  #doubts = 0;

  constructor(field: Field, id: string, call: CallUnderTest) {
    this.field = field;
    this.id = id;
    this.call = call;
  }

  get workflowId(): string {
    return `${this.field.underTest.process}/${this.id}`;
  }

  /** Of the process that makes the call. */
  get callerId(): string {
    return callerOf(this.call, this.field.underTest.process, this.id);
  }

  get handle(): ProcessHandle<{ outcome: string }> {
    if (!this.#handle) throw new Error(`${this.id} was not started`);
    return this.#handle;
  }

  workflow(runId?: string): WorkflowHandle {
    return this.field.trustflow.temporal.workflow.getHandle(this.workflowId, runId);
  }

  /** The same again, after a termination. */
  async start(): Promise<void> {
    const { underTest, trustflow, account } = this.field;
    const { input } = this.call.variant;
    const variant: Variant = {
      ...this.call.variant,
      input: { ...input, ...(account === undefined ? {} : { account }) },
    };
    this.#handle = await underTest.start(trustflow, this.id, variant);
  }

  /** The process's own effect is behind it: as the visibility says, because a query may disturb the history (docs/decisions/0015). */
  tracked(): Promise<void> {
    return until(`${this.id} is tracked`, async () => {
      await this.passSetUp();
      const { typedSearchAttributes } = await this.workflow().describe();
      const phase = typedSearchAttributes.get(searchAttributes.phase);
      const isSetUp = this.field.underTest.setUpMs === undefined || phase !== "submitting";
      return this.#isAbandoned || (phase !== undefined && isSetUp);
    });
  }

  /** Like a caller: asks again where no worker answered, where it may, or where nothing was done. */
  ask(): void {
    if (!this.call.ask) return;
    this.#isAnswered = false;
    this.#askedAt ||= Date.now();
    this.#answers = this.#answersUntilKnown();
    const answered = () => (this.#isAnswered = true);
    this.#answers.then(answered, answered);
  }

  /** No more is asked; returns when what was asked has been answered, so that nothing is under way at the end. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    await this.#answers.catch(() => undefined);
  }

  async answered(): Promise<void> {
    await this.#answers;
  }

  /** Lets virtual time pass at the provider, where a set-up needs it. */
  async passSetUp(): Promise<void> {
    const { sandbox, underTest } = this.field;
    if (underTest.setUpMs) await sandbox.clock.advance(underTest.setUpMs);
  }

  async terminate(): Promise<void> {
    await this.workflow().terminate("crash point");
  }

  /** Whether it has ended, or its end cannot be known. */
  async look(): Promise<boolean> {
    if (this.end !== undefined) return true;
    const { status, typedSearchAttributes } = await this.workflow().describe();
    if (status.name === "RUNNING") {
      const own = typedSearchAttributes.get(searchAttributes.attention);
      const attention = own ?? (await this.#callersAttention());
      const isParked = attention === "unknownOutcome";
      this.#parkedAt = isParked ? (this.#parkedAt ?? Date.now()) : undefined;
      if (this.#parkedAt && Date.now() - this.#parkedAt > PARKED_FOR_GOOD_MS) this.end = attention;
    } else {
      this.end = await this.handle.result().then(
        ({ outcome }) => outcome,
        (error: Error) => error.name,
      );
    }
    if (this.end !== undefined) this.#endedAt = Date.now();
    return this.end !== undefined;
  }

  /** A decision is asked for where the call is made. */
  async #callersAttention(): Promise<string | undefined> {
    if (this.callerId === this.workflowId) return undefined;
    const { workflow } = this.field.trustflow.temporal;
    const caller = await workflow
      .getHandle(this.callerId)
      .describe()
      .catch(() => undefined);
    return caller?.typedSearchAttributes.get(searchAttributes.attention);
  }

  /** One turn of the persons whom it waits for, unless what they do is the point. */
  async play(): Promise<void> {
    const { ask, thenPlay } = this.call;
    const isTheirs = !ask || (thenPlay === true && this.#isAnswered);
    if (this.end !== undefined || !isTheirs) return;
    const played = await this.field.underTest.play?.(this.handle, this.#scene);
    if (played?.answer === "unknown") this.#doubts += 1;
  }

  /** Without a look-up, the call is treated as class `once`. */
  get #judged(): CallUnderTest {
    return this.field.isBlind ? { ...this.call, effectClass: "once" } : this.call;
  }

  get #scene(): Scene {
    return { sandboxUrl: this.field.sandbox.url, intent: this.id };
  }

  /** Another run of it was made: what is known of the end is over. */
  renew(): void {
    this.end = undefined;
    this.interruptedAt = Date.now();
  }

  async #answersUntilKnown(): Promise<string[]> {
    const answers: string[] = [];
    for (;;) {
      const answer = await this.#answer(`ask-${answers.length}`);
      answers.push(answer);
      const { effectClass } = this.call;
      const again = answer === "unavailable" || (answer === "unknown" && effectClass !== "once");
      if (!again || this.#isAbandoned || answers.length === MAX_ANSWERS) return answers;
      await delay(1_000);
    }
  }

  async #answer(updateId: string): Promise<string> {
    for (let left = 3; ; left -= 1) {
      try {
        return (await this.call.ask?.(this.handle, updateId, this.#scene))?.answer ?? "";
      } catch (error) {
        const { name } = error as Error;
        if (name === finished) return name;
        if (left === 0 || this.#isAbandoned || name !== "UnreachableError") throw error;
      }
    }
  }

  async row(phase: string): Promise<CrashRow> {
    const { underTest, sandbox } = this.field;
    const answers = await this.#answers.catch((error: Error) => [error.name]);
    const ledger = sandbox.ledger(this.id);
    const end = this.end ?? "open";
    const isHeldTooLong =
      this.call.ask !== undefined &&
      (this.interruptedAt - this.#askedAt > MAX_HOLD_MS ||
        this.replacementAt - this.#askedAt > MAX_UNTIL_REPLACEMENT_MS);
    return {
      process: underTest.process,
      effect: this.call.operation,
      phase,
      ...judge(underTest, this.#judged, phase, {
        ledger,
        intent: this.id,
        answers,
        end,
        isHeldTooLong,
        doubts: this.#doubts,
      }),
      durationMs: (this.end === undefined ? Date.now() : this.#endedAt) - this.interruptedAt,
    };
  }
}

/** Lets virtual time pass until all have ended; what has not by then stays open. */
export async function settle(runs: Run[], limitMs = 120_000): Promise<void> {
  const [first] = runs;
  if (!first) return;
  const { sandbox, underTest } = first.field;
  for (const end = Date.now() + limitMs; Date.now() < end; await delay(500)) {
    await sandbox.clock.advance(underTest.spanMs);
    await Promise.allSettled(runs.map((run) => run.play()));
    const ended = await Promise.all(runs.map((run) => run.look().catch(() => false)));
    if (ended.every(Boolean)) return;
  }
}

const STILL_LIMIT_MS = 60_000;
let cameFurtherAt = 0;

/** Many processes at once take their time: it fails where for a minute none of them, and no part of `what`, has come further. */
export async function until(
  what: string | (() => string),
  isSo: () => Promise<boolean> | boolean,
): Promise<void> {
  for (let shown = ""; !(await isSo()); await delay(100)) {
    const missing = typeof what === "string" ? what : what();
    if (missing !== shown) cameFurtherAt = Date.now();
    shown = missing;
    if (Date.now() > cameFurtherAt + STILL_LIMIT_MS)
      throw new Error(`not yet, and nothing has come further for ${STILL_LIMIT_MS} ms: ${missing}`);
  }
  cameFurtherAt = Date.now();
}
