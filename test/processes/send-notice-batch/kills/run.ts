// One batch from its start to its end, phase by phase. The provider's clock moves only when this says so, and the provider calls back
// only while receiver and database are there: as in the real world, its retries take longer than a restart.
import { setTimeout as delay } from "node:timers/promises";
import type { HandleOf, SendNoticeBatchInput } from "../../../../src/client.js";
import { waitingCount } from "../../../harness/outages/many.js";
import { killAndRestart, type Victim } from "../../../harness/outages/victims.js";
import { eventually } from "../../../harness/outages/wait.js";
import { inboxSettled } from "../../../harness/stack/inbox.js";
import type { TestStack } from "../../../harness/stack/stack.js";
import type { CallKill, KillPlan } from "./plan.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Shorter than the time limit of a call. */
const HOLD_MS = 3_000;
/** How long a machine that does everything at once may take from one moment to the next. */
const REACH_LIMIT_MS = 120_000;
/** Of the sandbox's clock: a batch begins after a minute and makes a thousand notices a second; the last callback comes in five hours. */
const UNTIL_BEGUN_MS = 60 * SECOND;
const NOTICES_A_SECOND = 1_000;
const UNTIL_CLOSED_MS = 5 * 60 * MINUTE;

const noKills: KillPlan = {
  setUp: [],
  sending: [],
  callbacks: [],
  sweep: [],
  archive: [],
  report: [],
};

interface Held extends CallKill {
  rule: string;
}

/** `callbacks`: how many callbacks the batch stores in the end. */
export interface Storm {
  kills: KillPlan;
  callbacks: number;
}

export class BatchRun {
  /** What was killed, and in which phase. */
  readonly killed: { phase: string; victims: Victim[] }[] = [];
  readonly #system: TestStack;
  readonly #id: string;
  readonly #kills: KillPlan;
  readonly #callbacks: number;
  #isOver = false;

  constructor(system: TestStack, id: string, storm?: Storm) {
    this.#system = system;
    this.#id = id;
    this.#kills = storm?.kills ?? noKills;
    this.#callbacks = storm?.callbacks ?? 0;
  }

  async run(input: SendNoticeBatchInput): Promise<void> {
    const setUp = await this.#hold(this.#kills.setUp);
    const handle = await this.#system.client.sendNoticeBatch(this.#id, input);
    const ended = handle.result();
    const watched = this.#needsPerson(handle);
    try {
      await Promise.all([this.#phases(setUp, input), Promise.race([ended, watched])]);
    } catch (error) {
      // Nothing waits for it any more when the stack is closed.
      await this.#system.client.temporal.workflow.getHandle(handle.workflowId).terminate();
      throw error;
    } finally {
      this.#isOver = true;
      await Promise.allSettled([ended, watched]);
      await this.#system.sandbox.clearFaults();
    }
  }

  async #phases(setUp: Held[], input: SendNoticeBatchInput): Promise<void> {
    await Promise.all([this.#untilStarted(), this.#strike("setUp", setUp)]);
    await this.#send(rowsOf(input));
    await this.#callBack();
    const { sweep, archive, report } = this.#kills;
    // No call of a later phase comes before the sweep.
    const held = await Promise.all([sweep, archive, report].map((kills) => this.#hold(kills)));
    await this.#sweepNow();
    for (const [index, phase] of ["sweep", "archive", "report"].entries())
      await this.#strike(phase, held[index] ?? []);
  }

  /** The body is queued at first (P2 §4.3). */
  async #untilStarted(): Promise<void> {
    const { sandbox, effects } = this.#system;
    await eventually(
      "the batch is started",
      async () => {
        if ((await effects(this.#id))["evi-notice.startBatch"]) return true;
        await sandbox.advance(SECOND);
      },
      REACH_LIMIT_MS,
    );
  }

  /** All notices are made. */
  async #send(rows: number): Promise<void> {
    const { sandbox } = this.#system;
    const held = await this.#hold(this.#kills.sending);
    const seconds = Math.ceil(rows / NOTICES_A_SECOND) + 1;
    const half = Math.floor((seconds - 1) / 2);
    await sandbox.advance(UNTIL_BEGUN_MS);
    await this.#strike("sending", held.slice(0, 1));
    await sandbox.advance(half * SECOND);
    await this.#strike("sending", held.slice(1));
    await sandbox.advance((seconds - half) * SECOND);
  }

  /** Until the provider has no callback left, and the relay has noted them all. */
  async #callBack(): Promise<void> {
    const { sandbox } = this.#system;
    let isAway = false;
    let isStruck = false;
    const provider = async () => {
      for (let passed = 0; passed < UNTIL_CLOSED_MS || !isStruck; passed += MINUTE) {
        while (isAway) await delay(20);
        await sandbox.advance(MINUTE);
      }
    };
    const strikes = async () => {
      for (const { victims, share } of this.#kills.callbacks) {
        const least = share * this.#callbacks;
        const isReached = async () => (await this.#stored()) >= least;
        await eventually(`${least} callbacks are stored`, isReached, REACH_LIMIT_MS);
        isAway = victims.some((victim) => victim === "receiver" || victim === "postgres");
        await this.#kill("callbacks", victims);
        isAway = false;
      }
      isStruck = true;
    };
    await Promise.all([provider(), strikes()]);
    while ((await sandbox.callbacks()).counts.pending > 0) await sandbox.advance(DAY);
    await inboxSettled(this.#system, REACH_LIMIT_MS);
  }

  /** As if the time between two sweeps were over. */
  async #sweepNow(): Promise<void> {
    const isDue = async () => {
      const { rowCount } = await this.#system.pool.query(
        `update trustflow.batches set swept_at = swept_at - interval '2 days'
         where workflow_id = $1 and listed_at is not null and swept_at is not null`,
        [this.#workflowId],
      );
      return rowCount === 1;
    };
    await eventually("each notice is listed", isDue, REACH_LIMIT_MS);
  }

  async #stored(): Promise<number> {
    const sql = "select count(*)::int as n from trustflow.callbacks where workflow_id = $1";
    const { rows } = await this.#system.pool.query<{ n: number }>(sql, [this.#workflowId]);
    return rows[0]?.n ?? 0;
  }

  /** Calls are counted from now on. */
  #hold(kills: CallKill[]): Promise<Held[]> {
    return Promise.all(
      kills.map(async (kill) => {
        const { operation, call, kind } = kill;
        const fault = { operation: `evi-notice.${operation}`, kind, call, ms: HOLD_MS };
        return { ...kill, rule: (await this.#system.sandbox.addFault(fault)).id };
      }),
    );
  }

  async #strike(phase: string, held: Held[]): Promise<void> {
    for (const { rule, victims, operation, call } of held) {
      const isReached = async () => {
        const rules = await this.#system.sandbox.faults();
        return rules.some(({ id, fired }) => id === rule && fired > 0);
      };
      await eventually(`${phase}: call ${call} of ${operation}`, isReached, REACH_LIMIT_MS);
      await this.#kill(phase, victims);
    }
  }

  async #kill(phase: string, victims: Victim[]): Promise<void> {
    this.killed.push({ phase, victims });
    await killAndRestart(this.#system, ...victims);
  }

  /** Each step of a batch can be looked up or repeated here, so no kill leaves a doubt that a person must decide. */
  async #needsPerson(handle: HandleOf<"sendNoticeBatch">): Promise<void> {
    for (; !this.#isOver; await delay(SECOND)) {
      if ((await waitingCount(this.#system)) === 0) continue;
      const { attention } = await handle.status();
      throw new Error(`needs an operator decision: ${JSON.stringify(attention)}`);
    }
  }

  get #workflowId(): string {
    return `sendNoticeBatch/${this.#id}`;
  }
}

function rowsOf({ recipients }: SendNoticeBatchInput): number {
  if (!("base64" in recipients)) throw new Error("the list is no inline document");
  return Buffer.from(recipients.base64, "base64").toString().trimEnd().split("\n").length - 1;
}
