// One process of a simulation from its start to its end, with the persons around it: the application that starts it, holders and signers
// who answer rightly, wrongly, twice and late, and the operator who decides by what the provider's portal shows.
import { setTimeout as delay } from "node:timers/promises";
import type { Trustflow } from "../../src/client.js";
import type { AnyHandle } from "../../src/client/processes.js";
import {
  DocumentStoreFullError,
  FinishedError,
  InvalidInputError,
} from "../../src/errors/index.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import type { ServeNoticeStatus } from "../../src/contracts/serve-notice/contract.js";
import { DAY_SECONDS } from "../../src/contracts/definition/process-contract.js";
import { contractOf } from "../../src/contracts/registry.js";
import { workflowIdOf } from "../../src/contracts/shared/names.js";
import type { Attention, ProcessStatus } from "../../src/contracts/shared/status.js";
import type { Sandbox } from "../../packages/sandbox/src/sandbox.js";
import { decisionOn } from "./operator.js";
import { isUnanswered } from "../harness/outages/wait.js";
import { brought } from "../processes/index.js";
import type { CallUnderTest, ProcessUnderTest, Scene } from "../processes/process-under-test.js";
import type { Life } from "./plan.js";
import type { Random } from "./random.js";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** However little happens, a person looks at the process so often. */
const LOOK_MS = 36 * HOUR_MS;
const SLOW_LOOK_MS = 7 * DAY_MS;
/** For so long slow persons let a matter lie at most: those of the process, and the operator. */
const LIES_MS = 50 * DAY_MS;
const DECISION_LIES_MS = 3 * DAY_MS;
/** Who asks in the last moment waits for it so long at the most. */
const LAST_MOMENT_MS = 3 * DAY_MS;

export interface Surroundings {
  /** That of the application as it runs now. */
  client(): Trustflow;
  sandbox: Sandbox;
  random: Random;
  /** Resolves when the process has changed, or after a while. */
  change(workflowId: string, ms: number): Promise<void>;
  /** Whether persons ask in the last moment. */
  isLate(): boolean;
  say(text: string): void;
}

export function underTestOf({ process, call: wanted, longWay = -1 }: Life) {
  const underTest = brought[process].underTest as ProcessUnderTest;
  const plain: CallUnderTest = {
    ...underTest.calls[0]!,
    variant: {},
    outcome: underTest.outcome,
    effects: underTest.effects,
    ...underTest.longWays?.[longWay],
  };
  delete plain.ask;
  const call = underTest.calls.find(({ operation }) => operation === wanted);
  return { underTest, call: call ?? plain };
}

/** Looks that come more often than hourly would only take time. */
const seldom = { lookIntervalSeconds: 3_600, progressIntervalSeconds: 3_600 };
/** For months, nobody need be asked all day. */
function slowSpans(random: Random) {
  const pollIntervalSeconds = random.pick([1, 3, 7]) * DAY_SECONDS;
  return {
    pollIntervalSeconds,
    lookIntervalSeconds: pollIntervalSeconds,
    progressIntervalSeconds: pollIntervalSeconds,
    holderDeadlineSeconds: 60 * DAY_SECONDS,
  };
}

/** The defaults of production, where other harnesses hurry. */
function settingsOf({ process: name, isSlow }: Life, random: Random): object {
  const defaults = contractOf(name).defaults as Record<string, { value: unknown }> | undefined;
  if (!defaults) return {};
  const spans: Record<string, number> = isSlow ? slowSpans(random) : seldom;
  const settings = Object.entries(defaults).flatMap(([key, { value }]) =>
    typeof value === "number" ? [[key, spans[key] ?? value]] : [],
  );
  const { pollIntervalSeconds } = spans;
  const child = pollIntervalSeconds === undefined ? {} : { pollIntervalSeconds };
  const children = name === "serveNotice" ? { notice: child, post: child } : {};
  return { ...Object.fromEntries(settings), ...children };
}

/** A long way has settings of its own; those of the other ways are for harnesses that hurry. */
function inputOf(life: Life, { variant: { input } }: CallUnderTest, random: Random): object {
  const { settings } = (life.longWay === undefined ? {} : (input ?? {})) as { settings?: object };
  const own = settingsOf(life, random);
  return contractOf(life.process).defaults
    ? { ...input, settings: { ...own, ...settings } }
    : { ...input };
}

/** What the checks read of a result. */
interface Result {
  outcome: string;
  references?: { uniqueId?: string };
  documents?: { uniqueId?: string }[];
  timeline?: { at: string; source: string; event: string; note?: string }[];
}

/** What a process waits for a decision on, and who takes it. */
interface Asking {
  handle: AnyHandle;
  process: ProcessName;
  attention: Attention;
}

/** Processes that one has started may each have an attention with the same id. */
const matterOf = ({ handle, attention }: Asking) => `${handle.workflowId} ${attention.id}`;

export class Living {
  readonly life: Life;
  readonly workflowId: string;
  /** Calls that a person has let be made again, knowing that they may have been made before, by the sandbox's name. */
  readonly confirmed: string[] = [];
  outcome: string | undefined;
  result: Result | undefined;
  /** What it waited for when a person saw it last before its end. */
  waitedFor: string | undefined;
  /** As a person saw it last. */
  status: ProcessStatus | undefined;
  /** A person has asked in the last moment: the process may have ended by the time at which that is done. */
  isLate = false;
  readonly #around: Surroundings;
  #isAsked = false;
  #hasAskedInVain = false;
  /** What a slow person saw last that is to be done, and until when it lies. */
  #matter: string | undefined;
  #liesUntil = 0;
  #waitsForOutcome: boolean | undefined;
  /** The attentions of which a person has confirmed a second effect. */
  readonly #confirmedFor = new Set<string>();

  constructor(life: Life, around: Surroundings) {
    this.life = life;
    this.workflowId = workflowIdOf(life.process, life.life);
    this.#around = around;
  }

  /** A person has waited for the last moment and has not asked, or has asked in vain. */
  get isUnasked(): boolean {
    return !this.#isAsked && (this.#waitsForOutcome !== undefined || this.#hasAskedInVain);
  }

  async live(): Promise<void> {
    const { client, random, change } = this.#around;
    const { underTest, call } = underTestOf(this.life);
    const variant = { ...call.variant, input: inputOf(this.life, call, random) };
    await this.#again(() => underTest.start(client(), this.life.life, variant));
    this.#around.say(`the application has started ${this.workflowId}`);
    if (random.chance(0.2))
      await this.#again(() => underTest.start(client(), this.life.life, variant));
    while (this.outcome === undefined) {
      await change(this.workflowId, this.#lookMs);
      await delay(this.#pauseMs());
      const handle = client().handle(this.workflowId as `${ProcessName}/${string}`);
      await this.#turn(handle, underTest, call).catch((error: unknown) => {
        if (!isUnanswered(error) && !(error instanceof FinishedError)) throw error;
      });
    }
  }

  get #lookMs(): number {
    if (!this.life.isSlow) return LOOK_MS;
    const leftMs = this.#liesUntil - Date.now();
    return leftMs > 0 ? Math.min(SLOW_LOOK_MS, leftMs) : SLOW_LOOK_MS;
  }

  /** Slow persons do a thing days or weeks after they saw it, and go on with it as others do. */
  #lies(matter: string, mostMs: number): boolean {
    if (!this.life.isSlow) return false;
    if (this.#matter !== matter) {
      this.#matter = matter;
      this.#liesUntil = Date.now() + Math.floor(mostMs * this.#around.random.next());
    }
    return Date.now() < this.#liesUntil;
  }

  /** Persons answer within seconds, hours or, seldom, a day. */
  #pauseMs(): number {
    const { random } = this.#around;
    return Math.floor(
      SECOND_MS + random.pick([MINUTE_MS, MINUTE_MS, HOUR_MS, 24 * HOUR_MS]) * random.next(),
    );
  }

  async #again<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isUnanswered(error) && !(error instanceof DocumentStoreFullError)) throw error;
        await delay(30 * SECOND_MS);
      }
    }
  }

  async #turn(handle: AnyHandle, underTest: ProcessUnderTest, call: CallUnderTest): Promise<void> {
    const status = await handle.status();
    this.status = status;
    // A process goes on after its outcome is known. A wait for its end would outlast the application.
    if (await this.#isClosed(handle)) {
      this.outcome = await (handle.result() as Promise<Result>).then(
        (result) => {
          this.result = result;
          return result.outcome;
        },
        (error: unknown) => {
          if (isUnanswered(error)) throw error;
          return (error as Error).constructor.name;
        },
      );
      this.#around.say(`${this.workflowId} has ended: ${this.outcome}`);
      return;
    }
    this.waitedFor = status.waitingFor;
    const asking = await this.#asking(handle, status);
    if (asking) {
      if (!this.#lies(matterOf(asking), DECISION_LIES_MS)) await this.#decide(asking);
    } else if (
      (status.outcome ?? "none") === "none" ||
      (this.#around.isLate() && call.ask && !this.#isAsked)
    ) {
      if (!this.#lies(status.waitingFor ?? "", LIES_MS))
        await this.#play(handle, underTest, call, status);
    }
  }

  /** What waits for a decision: the process, else one that it has started. */
  async #asking(handle: AnyHandle, status: ProcessStatus): Promise<Asking | undefined> {
    const { children = [] } = status as ProcessStatus & Pick<ServeNoticeStatus, "children">;
    if (status.attention)
      return { handle, process: this.life.process, attention: status.attention };
    const child = children.find(({ attention }) => attention);
    if (!child) return undefined;
    const name = child.process as ProcessName;
    const own = this.#around.client().handle(`${name}/${child.id}`);
    const { attention } = await own.status();
    return attention && { handle: own, process: name, attention };
  }

  /** Who asks in the last moment waits until shortly before the time that the status shows, and most of them for the last such time. */
  async #isTime({ until, outcome }: ProcessStatus): Promise<boolean> {
    const { random, isLate } = this.#around;
    if (!isLate()) return true;
    this.#waitsForOutcome ??= random.chance(0.7);
    if (this.#waitsForOutcome && outcome === undefined) return false;
    const left = until === undefined ? Infinity : Date.parse(until) - Date.now();
    if (left > LAST_MOMENT_MS) return false;
    await delay(Math.max(1, left - random.int(0, 2 * SECOND_MS)));
    this.isLate = true;
    return true;
  }

  async #isClosed({ workflowId }: AnyHandle): Promise<boolean> {
    const { status } = await this.#around
      .client()
      .temporal.workflow.getHandle(workflowId)
      .describe();
    return status.name !== "RUNNING";
  }

  async #play(
    handle: AnyHandle,
    underTest: ProcessUnderTest,
    call: CallUnderTest,
    status: ProcessStatus,
  ): Promise<void> {
    const { sandbox, random, say } = this.#around;
    const scene: Scene = { sandboxUrl: sandbox.url, intent: this.life.life };
    if (call.ask && !this.#isAsked) {
      if (status.phase === "submitting" || !(await this.#isTime(status))) return;
      this.#isAsked = true;
      const { answer } = await call.ask(
        handle,
        random.chance(0.5) ? "ask" : `ask-${random.int(0, 1e6)}`,
        scene,
      );
      if (answer === "unknown" || answer === "unavailable") this.#isAsked = false;
      if (answer === "unavailable") this.#hasAskedInVain = true;
      if (answer === "unknown") this.confirmed.push(call.sandbox);
      say(`${this.workflowId}: ${call.operation} was asked for and answered ${answer}`);
      return;
    }
    const played = await underTest.play?.(handle, scene);
    if (played?.answer === "unknown") this.confirmed.push(...(underTest.triedAgain ?? []));
  }

  async #decide(asking: Asking): Promise<void> {
    const { handle, process, attention } = asking;
    const matter = matterOf(asking);
    const { sandbox, random, say } = this.#around;
    const { effects } = sandbox.ledger(this.life.life);
    const decision = decisionOn(attention, process, effects);
    const before = this.confirmed.length;
    const isConfirming = decision.decision === "retry" && attention.kind === "unknownOutcome";
    // The effect may come before the answer.
    if (isConfirming && !this.#confirmedFor.has(matter)) {
      const { calls } = brought[process].underTest as ProcessUnderTest;
      const own = calls.filter(({ activity, step }) =>
        [activity, step].flat().includes(attention.step),
      );
      this.confirmed.push(...own.map((call) => call.sandbox));
    }
    const note = "looked at the provider's portal";
    const resolution = { attention: attention.id, by: "operator", note, ...decision };
    const answers = [
      handle.resolve(resolution),
      ...(random.chance(0.2) ? [handle.resolve(resolution)] : []),
    ];
    const all = await Promise.allSettled(answers);
    const isTaken = all.some((one) =>
      one.status === "fulfilled" ? one.value.answer === "resolved" : isUnanswered(one.reason),
    );
    if (!isTaken) this.confirmed.length = before;
    else if (isConfirming) this.#confirmedFor.add(matter);
    for (const { status, ...settled } of all) {
      const { reason, value } = settled as { reason?: unknown; value?: { answer: string } };
      say(
        `the operator decides ${decision.decision} on ${attention.kind} of ${handle.workflowId}: ${value?.answer ?? String(reason)}`,
      );
      if (
        status === "rejected" &&
        !(
          reason instanceof InvalidInputError ||
          reason instanceof FinishedError ||
          isUnanswered(reason)
        )
      )
        throw reason;
    }
  }
}
