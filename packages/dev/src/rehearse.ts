// `trustflow rehearse`: runs one input against the sandbox again and again, and kills the worker during each call to a provider: before the
// provider acts, after it, and once the answer is in the database, but not yet in Temporal. The sandbox's ledger says whether each effect
// happened once. Several systems share the crashes, each with a sandbox of its own: one ledger would count the same input twice.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { stringify } from "smol-toml";
import { Trustflow } from "trustflow-client";
import type { AnyHandle } from "trustflow-client";
import { readStartInput, withStoredFiles } from "trustflow/internal/cli/processes/start-input.js";
import { readToml } from "trustflow/internal/config/load.js";
import { contractOf, processes } from "trustflow/internal/contracts/registry.js";
import type { ProcessName } from "trustflow/internal/contracts/registry.js";
import { sandboxControl } from "trustflow-sandbox";
import type { SandboxControl } from "trustflow-sandbox";
import { createPool } from "trustflow/internal/postgres/pool.js";
import type { Pool } from "trustflow/internal/postgres/pool.js";
import { openGate } from "./processes/gate.js";
import type { Gate } from "./processes/gate.js";
import type { Progress } from "./processes/tools.js";
import { hurried, simulatedSpans } from "./stack/simulated-spans.js";
import { startStack } from "./stack/stack.js";
import { openState } from "./stack/stack-state.js";
import type { Stack } from "./stack/stack.js";

export interface RehearsalOptions {
  process: ProcessName;
  /** The file with the input. */
  input: string;
  /** A trustflow.toml, for its settings of processes (`[sendPostal]` …); the rest of it is not read. */
  config?: string;
  progress: Progress;
}

export interface Rehearsed {
  /** `evi-post.submit 1`: the first call of this operation. */
  call: string;
  /** `afterCommit`: the answer is in the database, and Temporal has not heard of it; only of calls that the journal keeps. */
  killed: "beforeEffect" | "afterEffect" | "afterCommit";
  /** `asks`: a person must say whether the call arrived, which nothing at the provider shows. */
  ending: "ended" | "asks" | "notReached" | "failed";
  /** The outcome, or what is wrong. */
  told: string;
  durationMs: number;
}

export interface Rehearsal {
  ok: boolean;
  process: ProcessName;
  /** Without a crash. */
  outcome: string;
  /** How often each operation had an effect without a crash. */
  effects: Record<string, number>;
  points: Rehearsed[];
}

const AFFIDAVIT_WINDOW_SECONDS = 5;
/** The worker is killed long before. */
const HELD_MS = 30_000;
/** The effect comes while no worker runs, or while the next one looks. */
const LATE_EFFECT_MS = 3_000;
const POINT_LIMIT_MS = 180_000;
/** An attention may end by itself, by a late answer. */
const ASKS_FOR_GOOD_MS = 4_000;

/** How many systems share the crashes: most of the time each of them waits. */
const LANES = 3;
/** The answer is in the database soon after the sandbox lets it go. */
const COMMITTED_WITHIN_MS = 15_000;

/** The worker is killed while the sandbox holds the call back, or once the answer is committed. */
const holds = {
  beforeEffect: { kind: "slow", ms: LATE_EFFECT_MS },
  afterEffect: { kind: "slow-answer", ms: HELD_MS },
  afterCommit: { kind: "slow-answer", ms: LATE_EFFECT_MS },
} as const;

export async function rehearse(options: RehearsalOptions): Promise<Rehearsal> {
  const { config, input, process: processName } = options;
  await readStartInput(contractOf(processName).input, input, "rehearsal");
  if (config !== undefined) readToml(config);
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, () => openLane(options)));
  try {
    const stages = lanes.map((lane) => {
      if (lane.status === "rejected") throw lane.reason;
      return lane.value.stage;
    });
    return await rehearseOn(stages, options);
  } finally {
    const opened = lanes.flatMap((lane) => (lane.status === "fulfilled" ? [lane.value] : []));
    await Promise.all(opened.map((lane) => lane.close()));
  }
}

async function rehearseOn(
  stages: Stage[],
  { process: processName, progress }: RehearsalOptions,
): Promise<Rehearsal> {
  const began = Date.now();
  const undisturbed = await stages[0]!.undisturbed();
  const { told, effects, calls, journaled } = undisturbed;
  const crashes = calls.flatMap((call) =>
    (["beforeEffect", "afterEffect", "afterCommit"] as const)
      .filter((killed) => killed !== "afterCommit" || journaled.has(call.operation))
      .map((killed) => ({ call, killed })),
  );
  progress(
    `without a crash: ${told} after ${seconds(began)}, calls: ${calls.length}, crashes: ${crashes.length}`,
  );
  const points: Rehearsed[] = [];
  const left = [...crashes.entries()];
  const follow = async (stage: Stage): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [index, { call, killed }] = next;
      const point = await stage.point(call, killed, undisturbed);
      points[index] = point;
      const done = points.filter(Boolean).length;
      progress(
        `${done} of ${crashes.length}  ${point.call}, ${killed}: ${point.ending}, ${point.told}`,
      );
    }
  };
  await Promise.all(stages.map(follow));
  const ok = points.every((point) => point.ending !== "failed");
  return { ok, process: processName, outcome: told, effects, points };
}

async function openLane(
  options: RehearsalOptions,
): Promise<{ stage: Stage; close(): Promise<void> }> {
  const { config, progress } = options;
  const directory = await mkdtemp(join(tmpdir(), "trustflow-rehearsal-"));
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  const closers: (() => Promise<unknown> | void)[] = [remove];
  const close = async (): Promise<void> => {
    // One that fails leaves the others to be closed.
    for (const closer of closers.splice(0))
      await Promise.resolve()
        .then(closer)
        .catch(() => undefined);
  };
  try {
    const { ports } = await openState(directory, progress);
    const gate = await openGate(ports.temporal);
    closers.unshift(gate.close);
    const stack = await startStack({
      directory,
      persistent: false,
      sandboxSpeed: "auto",
      sandboxPersonTime: "real",
      env: {
        ...simulatedSpans(AFFIDAVIT_WINDOW_SECONDS),
        ...hurried,
        TEMPORAL_ADDRESS: gate.address,
      },
      ...(config !== undefined && { config: await settingsOf(config, directory) }),
      onDeath: () => undefined,
      progress,
    });
    closers.unshift(() => stack.close());
    const client = await Trustflow.connect({ env: stack.clientEnv });
    closers.unshift(() => client.close());
    const database = createPool(stack.databaseUrl, { max: 1 });
    closers.unshift(() => database.end());
    return { stage: new Stage(options, stack, { client, database, gate }), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A copy with the settings of the processes alone: nothing in it names an address. */
async function settingsOf(config: string, directory: string): Promise<string> {
  const settings = Object.entries(readToml(config)).filter(([name]) => isProcessName(name));
  const file = join(directory, "rehearsal.toml");
  await writeFile(file, stringify(Object.fromEntries(settings)), { mode: 0o600 });
  return file;
}

const isProcessName = (name: string) => processes.some((known) => known === name);

/** A run without a crash. */
interface Undisturbed {
  told: string;
  effects: Record<string, number>;
  calls: Call[];
  /** The operations whose answers the journal keeps. */
  journaled: ReadonlySet<string>;
}

interface Played {
  ending: "ended" | "asks" | "failed";
  told: string;
}

class Stage {
  readonly #options: RehearsalOptions;
  readonly #stack: Stack;
  readonly #client: Trustflow;
  readonly #sandbox: SandboxControl;
  readonly #database: Pool;
  readonly #gate: Gate;
  #runs = 0;

  constructor(
    options: RehearsalOptions,
    stack: Stack,
    { client, database, gate }: { client: Trustflow; database: Pool; gate: Gate },
  ) {
    this.#options = options;
    this.#stack = stack;
    this.#client = client;
    this.#database = database;
    this.#gate = gate;
    this.#sandbox = sandboxControl(stack.sandboxUrl);
  }

  async undisturbed(): Promise<Undisturbed> {
    const handle = await this.#start();
    const { ending, told } = await this.#play(handle);
    const { newest } = await this.#sandbox.requests();
    const effects = await this.#effects();
    if (ending !== "ended" || (await this.#problem()) !== undefined)
      throw new Error(`without a crash ${this.#options.process} does not come to its end: ${told}`);
    const calls = callsOf(newest.map(({ operation }) => operation));
    return { told, effects, calls, journaled: new Set(await this.#answered()) };
  }

  async point(
    { operation, nth }: Call,
    killed: Rehearsed["killed"],
    wanted: Undisturbed,
  ): Promise<Rehearsed> {
    const began = Date.now();
    await this.#sandbox.reset();
    const { id } = await this.#sandbox.addFault({ operation, call: nth, ...holds[killed] });
    const handle = await this.#start();
    const isHeld = async () =>
      (await this.#sandbox.faults()).some((fault) => fault.id === id && fault.fired > 0);
    let isReached = false;
    let isCommitted = true;
    const played = await this.#play(handle, async () => {
      if (!(await isHeld())) return false;
      isReached = true;
      if (killed === "afterCommit") isCommitted = await this.#untilCommitted();
      await this.#stack.role("worker").kill();
      this.#gate.open();
      await this.#stack.role("worker").restart();
      return true;
    });
    const done = (ending: Rehearsed["ending"], told: string): Rehearsed => ({
      ...{ call: `${operation} ${nth}`, killed, ending, told },
      durationMs: Date.now() - began,
    });
    if (played.ending !== "ended") await this.#terminate(handle);
    const problem = await this.#problem();
    if (problem !== undefined) return done("failed", problem);
    if (!isReached) return done("notReached", "this time the process did not make the call");
    if (!isCommitted) return done("failed", "the answer did not reach the database");
    if (played.ending !== "ended") return done(played.ending, played.told);
    if (played.told !== wanted.told) return done("failed", `ended as ${played.told}`);
    const effects = await this.#effects();
    const lost = Object.keys(wanted.effects).filter((name) => !effects[name]);
    return lost.length > 0
      ? done("failed", `lost: ${lost.join(", ")}`)
      : done("ended", played.told);
  }

  /** Holds back what the worker tells Temporal, and waits until the database has the answer of one more call. False if none comes. */
  async #untilCommitted(): Promise<boolean> {
    this.#gate.shut();
    const before = (await this.#answered()).length;
    for (const end = Date.now() + COMMITTED_WITHIN_MS; Date.now() < end; await delay(50))
      if ((await this.#answered()).length > before) return true;
    return false;
  }

  /** The operations whose answers the journal has, of earlier runs too; one run takes place at a time. */
  async #answered(): Promise<string[]> {
    const { rows } = await this.#database.query<{ operation: string }>(
      `select provider || '.' || operation as operation from trustflow.effects where state = 'answered'`,
    );
    return rows.map(({ operation }) => operation);
  }

  async #start(): Promise<AnyHandle> {
    const { process: processName, input: file } = this.#options;
    const id = `rehearsal-${(this.#runs += 1)}`;
    const read = await readStartInput(contractOf(processName).input, file, id);
    const input = await withStoredFiles(read, () => this.#client.documents);
    return this.#client.start(processName, id, { ...input, account: "default" });
  }

  /** Follows the process to its end and enters each code that a person is sent. `disturb` is asked again and again until it has happened. */
  async #play(handle: AnyHandle, disturb?: () => Promise<boolean>): Promise<Played> {
    const entered = new Set<string>();
    let entering: Promise<void> | undefined;
    let isCodeUnknown = false;
    let asksSince: number | undefined;
    let isDisturbed = disturb === undefined;
    let waits = "";
    for (const end = Date.now() + POINT_LIMIT_MS; Date.now() < end; await delay(100)) {
      isDisturbed ||= (await disturb?.()) ?? true;
      // A worker that is away answers no query.
      if (!(await handle.isOpen().catch(() => true))) return endOf(handle);
      const status = await handle.status({ timeoutMs: 2_000 }).catch(() => undefined);
      const { attention, waitingFor = "", phase } = status ?? {};
      waits = [phase, waitingFor, attention?.reason].filter(Boolean).join(", ");
      asksSince = attention ? (asksSince ?? Date.now()) : undefined;
      if (asksSince !== undefined && Date.now() - asksSince > ASKS_FOR_GOOD_MS)
        return attention?.kind === "unknownOutcome"
          ? { ending: "asks", told: `a person has to look: ${attention.step}` }
          : { ending: "failed", told: attention?.reason ?? "" };
      // The worker is killed during this call too, so nobody waits for it here.
      if (phase === "waiting" && "submitOtp" in handle)
        entering ??= this.#enterCode(handle, entered)
          .then((isUnknown) => void (isCodeUnknown ||= isUnknown))
          .finally(() => (entering = undefined));
      // The process would wait for another code, to the end of this one's life; entered, it could count twice.
      if (isCodeUnknown) return { ending: "asks", told: "a person has to look: the holder's code" };
    }
    return { ending: "failed", told: `still open: ${waits}` };
  }

  /** True where nobody knows what became of the code. */
  async #enterCode(handle: Extract<AnyHandle, { submitOtp: unknown }>, entered: Set<string>) {
    const messages = await this.#sandbox.messages().catch(() => []);
    const newest = messages.at(-1)?.otp;
    if (newest === undefined || entered.has(newest)) return false;
    const { answer } = (await handle.submitOtp(newest).catch(() => undefined)) ?? {};
    if (answer === undefined || answer === "unavailable") return false;
    entered.add(newest);
    return answer === "unknown";
  }

  async #effects(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { operation } of (await this.#sandbox.ledger()).effects)
      counts[operation] = (counts[operation] ?? 0) + 1;
    return counts;
  }

  /** What the ledger has that must never be there. */
  async #problem(): Promise<string | undefined> {
    const { duplicates, violations } = await this.#sandbox.ledger();
    const [twice, violation] = [duplicates[0], violations[0]];
    if (twice) return `${twice.operation} happened ${twice.count} times`;
    return violation && `${violation.operation}: ${violation.detail}`;
  }

  async #terminate({ workflowId }: AnyHandle): Promise<void> {
    await this.#client.temporal.workflow.getHandle(workflowId).terminate("end of the rehearsal");
  }
}

interface Call {
  operation: string;
  nth: number;
}

/** Each call with its number among those of its operation. */
function callsOf(operations: string[]): Call[] {
  const counts = new Map<string, number>();
  return operations.map((operation) => {
    const nth = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, nth);
    return { operation, nth };
  });
}

function endOf(handle: AnyHandle): Promise<Played> {
  return handle.result().then(
    ({ outcome }) => ({ ending: "ended", told: outcome }),
    (error: Error) => ({ ending: "failed", told: error.message }),
  );
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1_000).toFixed(0)} s`;
}
