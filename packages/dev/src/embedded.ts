// The client with a whole system of its own, for tests and first programs: Temporal, PostgreSQL, the sandbox and every role.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Trustflow as Client } from "trustflow-client";
import type {
  AnyHandle,
  HandleOf,
  InputOf,
  Opened,
  StartedHandle,
  StartOptions,
} from "trustflow-client";
import type { ProcessName } from "trustflow/internal/contracts/registry.js";
import { suggestionFor } from "trustflow/internal/contracts/shared/nearest.js";
import { sandboxControl } from "trustflow-sandbox";
import type { SandboxControl, Speed } from "trustflow-sandbox";
import { DatabaseClock } from "./clock/database-clock.js";
import { wrongArgument } from "./wrong-argument.js";
import { OpenProcesses } from "./clock/open-processes.js";
import { TimeLine } from "./clock/time-line.js";
import { VirtualClock } from "./clock/virtual-clock.js";
import type { Progress } from "./processes/tools.js";
import { simulatedSpans } from "./stack/simulated-spans.js";
import { startStack } from "./stack/stack.js";
import type { Stack } from "./stack/stack.js";

export interface EmbeddedOptions {
  /** Of the sandbox's clock: virtual seconds per second, or `manual`. Default `auto`: a day of the providers passes in 4.3 seconds. */
  speed?: Speed;
  /** More configuration of the roles, as environment variables: `{ TRUSTFLOW_ATTENTION__RETRY_SECONDS: "2" }`. */
  env?: Record<string, string>;
  /** Called with a line for each step of the start. */
  progress?: Progress;
}

/** Processes and providers live by one clock, `trustflow.clock`, which stands still until a test moves it. */
export interface VirtualOptions extends Omit<EmbeddedOptions, "speed"> {
  clock: "virtual";
}

/** The sandbox sends affidavits at once. */
const AFFIDAVIT_WINDOW_SECONDS = 5;

export class Trustflow extends Client {
  /**
   * Starts a whole system on free ports of this machine, in a folder that only its user reads, and connects to it. `close()` ends it
   * and removes the folder. If this process dies, both happen too.
   */
  static embedded(options: VirtualOptions): Promise<VirtualTrustflow>;
  static embedded(options?: EmbeddedOptions): Promise<EmbeddedTrustflow>;
  static async embedded(options: EmbeddedOptions & { clock?: "virtual" } = {}) {
    refuseWrong(options);
    const { speed = "auto", clock, env, progress } = options;
    const directory = await mkdtemp(join(tmpdir(), "trustflow-embedded-"));
    const timeLine = clock && new TimeLine(join(directory, "clock"));
    timeLine?.step(Date.now());
    const stack = await startStack({
      ...{ directory, persistent: false, ...(progress && { progress }) },
      ...(timeLine
        ? { clockFile: timeLine.file, sandboxSpeed: "manual", ...(env && { env }) }
        : {
            ...{ sandboxSpeed: speed, sandboxPersonTime: "real" },
            env: { ...simulatedSpans(AFFIDAVIT_WINDOW_SECONDS), ...env },
          }),
    });
    try {
      const opened = await this.open({ env: stack.clientEnv });
      return timeLine
        ? await VirtualTrustflow.begin(opened, stack, timeLine)
        : new EmbeddedTrustflow(opened, stack);
    } catch (error) {
      await stack.close();
      throw error;
    }
  }
}

/** JavaScript may give them in any shape. */
function refuseWrong(options: EmbeddedOptions & { clock?: "virtual" }): void {
  const refuse = (path: string, problem: string): never => {
    throw wrongArgument(path, problem);
  };
  if (typeof options !== "object" || options === null) refuse("options", "must be an object");
  const { speed, clock, env, progress } = options;
  const known = ["speed", "clock", "env", "progress"];
  for (const name of Object.keys(options))
    if (!known.includes(name))
      refuse(`options.${name}`, `is not known; ${suggestionFor(name, known)}`);
  if (clock !== undefined && clock !== "virtual") refuse("options.clock", 'must be "virtual"');
  if (clock && speed !== undefined)
    refuse("options.speed", "is not possible with a virtual clock: leave out speed or clock");
  const isFactor = typeof speed === "number" && speed > 0 && speed < Infinity;
  if (speed !== undefined && speed !== "auto" && speed !== "manual" && !isFactor)
    refuse("options.speed", 'must be a number above 0, "manual" or "auto"');
  if (env !== undefined) {
    if (typeof env !== "object" || env === null) refuse("options.env", "must be an object");
    for (const [name, value] of Object.entries(env))
      if (typeof value !== "string") refuse(`options.env.${name}`, "must be a text");
  }
  if (progress !== undefined && typeof progress !== "function")
    refuse("options.progress", "must be a function");
}

/** Starts, finds and lists processes as every client does, and controls the system that it runs in. */
export class EmbeddedTrustflow extends Client {
  /** Moves the sandbox's clock, sets faults, reads its ledger and the messages that it sent. */
  readonly sandbox: SandboxControl;
  /** The same over HTTP: `docs/sandbox/control.md`. */
  readonly sandboxUrl: string;
  /** Temporal's Web UI. */
  readonly temporalUi: string;
  /** What another program needs to connect: the environment for `Trustflow.connect()` or `npx trustflow list`. */
  readonly env: Readonly<Record<string, string>>;
  readonly #stack: Stack;

  constructor(
    opened: Opened,
    stack: Stack,
    sandbox: SandboxControl = sandboxControl(stack.sandboxUrl),
  ) {
    super(opened);
    this.#stack = stack;
    this.sandbox = sandbox;
    this.sandboxUrl = stack.sandboxUrl;
    this.temporalUi = stack.temporalUi;
    this.env = stack.clientEnv;
  }

  /** The process in Temporal's Web UI. */
  linkOf({ workflowId }: Pick<AnyHandle, "workflowId">): string {
    return this.#stack.linkOf(workflowId);
  }

  /** Ends every process of the system and removes its folder. */
  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      await this.#stack.close();
    }
  }
}

const refuseToMove = (): Promise<never> =>
  Promise.reject(new Error("the sandbox lives by the virtual clock: use trustflow.clock"));

/** Its processes and providers live by `clock`. It is for tests: their histories can be read by no other system. */
export class VirtualTrustflow extends EmbeddedTrustflow {
  readonly clock: VirtualClock;
  readonly #processes: OpenProcesses;
  readonly #database: DatabaseClock;

  private constructor(opened: Opened, stack: Stack, timeLine: TimeLine, database: DatabaseClock) {
    const sandbox = sandboxControl(stack.sandboxUrl);
    super(opened, stack, { ...sandbox, advance: refuseToMove, setSpeed: refuseToMove });
    this.#processes = new OpenProcesses(this.temporal, timeLine);
    this.#database = database;
    this.clock = new VirtualClock({ timeLine, sandbox, processes: this.#processes, database });
  }

  static async begin(opened: Opened, stack: Stack, timeLine: TimeLine): Promise<VirtualTrustflow> {
    const { now } = await sandboxControl(stack.sandboxUrl).clock();
    // It began a little later than the file.
    timeLine.step(Date.parse(now));
    const database = new DatabaseClock(stack.databaseUrl);
    await database.step(Date.parse(now)).catch(async (error: unknown) => {
      await database.close();
      throw error;
    });
    return new VirtualTrustflow(opened, stack, timeLine, database);
  }

  override async start<P extends ProcessName>(
    processName: P,
    id: string,
    input: object,
    options: StartOptions = {},
  ): Promise<StartedHandle<P>> {
    const handle = await super.start(processName, id, input, options);
    this.#processes.add(handle.workflowId);
    return handle;
  }

  override async updateWithStart<P extends ProcessName, Answer>(
    processName: P,
    id: string,
    input: InputOf<P>,
    first: (handle: HandleOf<P>) => Promise<Answer>,
    options: Omit<StartOptions, "startDelay"> = {},
  ): Promise<{ handle: StartedHandle<P>; answer: Answer }> {
    const made = await super.updateWithStart(processName, id, input, first, options);
    this.#processes.add(made.handle.workflowId);
    return made;
  }

  override async close(): Promise<void> {
    try {
      await this.#database.close();
    } finally {
      await super.close();
    }
  }
}
