// The client with a whole system of its own, for tests and first programs: Temporal, PostgreSQL, the sandbox and every role.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Trustflow as Client } from "trustflow-client";
import type { AnyHandle, Opened } from "trustflow-client";
import { Connection } from "@temporalio/client";
import pg from "pg";
import { TimeLine } from "./clock/time-line.js";
import { VirtualClock } from "./clock/virtual-clock.js";
import { WaitsReader } from "./clock/waits.js";
import { sandboxControl } from "trustflow-sandbox";
import type { SandboxControl, Speed } from "trustflow-sandbox";
import type { Progress } from "./processes/tools.js";
import { simulatedSpans } from "./stack/simulated-spans.js";
import { startStack } from "./stack/stack.js";
import type { Stack } from "./stack/stack.js";

export interface EmbeddedOptions {
  /** Of the sandbox's clock: virtual seconds per second, or `manual`. Default `auto`: a day of the providers passes in 4.3 seconds. */
  speed?: Speed;
  /** More configuration of the roles, as environment variables: `{ TRUSTFLOW_ATTENTION__RETRY_SECONDS: "2" }`. */
  env?: Record<string, string>;
  clock?: "virtual";
  /** Called with a line for each step of the start. */
  progress?: Progress;
}

/** The sandbox sends affidavits at once. */
const AFFIDAVIT_WINDOW_SECONDS = 5;

export class Trustflow extends Client {
  /**
   * Starts a whole system on free ports of this machine, in a folder that only its user reads, and connects to it. `close()` ends it
   * and removes the folder. If this process dies, both happen too.
   */
  static async embedded(options: EmbeddedOptions = {}): Promise<EmbeddedTrustflow> {
    const { speed = "auto", env, progress, clock } = options;
    const directory = await mkdtemp(join(tmpdir(), "trustflow-embedded-"));
    const clockFile = join(directory, "clock");
    if (clock) new TimeLine(clockFile).step(Date.now());
    const stack = await startStack({
      directory,
      persistent: false,
      sandboxSpeed: clock ? "manual" : speed,
      ...(!clock && { sandboxPersonTime: "real" }),
      ...(clock && { clockFile }),
      env: { ...(!clock && simulatedSpans(AFFIDAVIT_WINDOW_SECONDS)), ...env },
      ...(progress && { progress }),
    });
    try {
      return new EmbeddedTrustflow(await this.open({ env: stack.clientEnv }), stack);
    } catch (error) {
      await stack.close();
      throw error;
    }
  }
}

/** Starts, finds and lists processes as every client does, and steers the system that it runs in. */
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
  clock: VirtualClock;
  connection;
  pool;

  constructor(opened: Opened, stack: Stack) {
    super(opened);
    this.#stack = stack;
    const timeLine = new TimeLine(join(stack.directory, "clock"));
    const connection = Connection.lazy({ address: stack.temporal.address });
    const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 });
    this.connection = connection;
    this.pool = pool;
    this.clock = new VirtualClock(
      timeLine,
      sandboxControl(stack.sandboxUrl),
      new WaitsReader(connection.workflowService, stack.temporal.namespace, timeLine),
      async () =>
        (
          await pool.query(
            "select count(*)::int as n from trustflow.callbacks where state in ('waiting', 'unaddressed') and (claimed_until is null or claim is not null)",
          )
        ).rows[0].n,
    );
    this.sandbox = sandboxControl(stack.sandboxUrl);
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
      await this.connection.close();
      await this.pool.end();
    } finally {
      await this.#stack.close();
    }
  }
}
