// Everything that runs while the bench measures: one fresh Temporal dev server for both sides, Trustflow's roles and
// PostgreSQL (fsync on), the floor's worker and receiver, and one provider for both.
import { Client, Connection } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { got } from "got";
import { Trustflow } from "../src/client.js";
import { startChild } from "../packages/dev/src/processes/child.js";
import type { Child } from "../packages/dev/src/processes/child.js";
import { freePorts } from "../packages/dev/src/processes/free-ports.js";
import { startStack } from "../packages/dev/src/stack/stack.js";
import type { Stack } from "../packages/dev/src/stack/stack.js";
import { createPool } from "../src/postgres/pool.js";
import type { Pool } from "../src/postgres/pool.js";
import { countStatements } from "./statements.js";

export interface Plan {
  mode: "burst" | "spaced" | "hold";
  firstMs: number;
  gapMs: number;
  /** How often each callback comes. */
  times: number;
  /** The callbacks of a released letter begin at a random time of so long. */
  spreadMs?: number;
  /** Where callbacks go instead, again and again until they are accepted. */
  host?: string;
}

export interface ProviderReport {
  letters: number;
  /** Letters that were sent more than once. */
  double: number;
  /** Since the mark. */
  firstQueryMs?: number;
  refused: number;
  /** Since the mark: how long after its last callback was first posted each letter was asked for. */
  confirmMs: number[];
}

export interface Stand {
  readonly stack: Stack;
  readonly serverPids: readonly number[];
  readonly trustflow: Trustflow;
  /** A client without encryption, as the floor has it. */
  readonly plain: Client;
  readonly pool: Pool;
  readonly floor: { worker: Part; receiver: Part; bundle: string };
  readonly provider: {
    plan(plan: Plan): Promise<void>;
    release(plan: Partial<Plan>): Promise<void>;
    mark(): Promise<void>;
    report(): Promise<ProviderReport>;
  };
  close(): Promise<void>;
}

/** A child of the bench that says on stdout when it is ready. */
export interface Part {
  readonly pid: number;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface StandOptions {
  progress(line: string): void;
  /** The roles of both sides leave their CPU profiles in that folder, PostgreSQL what its statements cost. */
  profiles?: string | undefined;
  /** How many processes the worker keeps in its memory; default: as configured. */
  cachedProcesses?: number | undefined;
  /** A Temporal of your own instead of the dev server, and the operating system's processes that work for it. */
  temporal?: { address: string; pids: number[] } | undefined;
}

export async function startStand(options: StandOptions): Promise<Stand> {
  const { progress, profiles } = options;
  const directory = await mkdtemp(join(tmpdir(), "trustflow-bench-"));
  const [providerPort, floorPort] = (await freePorts(2)) as [number, number];
  const baseUrl = `http://127.0.0.1:${providerPort}`;
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0)) await closer();
  };
  const started = <T extends { stop(): Promise<void> }>(part: T): T => {
    closers.unshift(() => part.stop());
    return part;
  };
  const logFile = join(directory, "logs", "bench.log");
  const profiled = profiles && (await profiledEnv(profiles));
  const env = { ...process.env, ...profiled };
  try {
    started(await startPart("provider.js", { port: providerPort }, logFile));
    const stack = await startStack({
      directory,
      persistent: false,
      roles: ["receiver", "relay", "worker"],
      env: {
        TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__BASE_URL: baseUrl,
        // The politeness towards a provider is not what is measured.
        TRUSTFLOW_WORKER__REQUESTS_PER_SECOND: "10000",
        TRUSTFLOW_LOG__LEVEL: "WARN",
        ...(options.cachedProcesses !== undefined && {
          TRUSTFLOW_WORKER__CACHED_PROCESSES: String(options.cachedProcesses),
        }),
        ...(options.temporal && { TEMPORAL_ADDRESS: options.temporal.address }),
        ...profiled,
      },
      progress,
    });
    closers.unshift(() => stack.close());
    const { address, pids } = options.temporal ?? {
      address: stack.temporal.address,
      pids: [stack.temporal.pid],
    };
    const bundle = join(directory, "floor-bundle.js");
    const { code } = await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL("floor/workflow.js", import.meta.url)),
      logger: new DefaultLogger("ERROR"),
    });
    await writeFile(bundle, code);
    const receiverUrl = `http://127.0.0.1:${floorPort}`;
    const floor = {
      receiver: started(
        await startPart("floor/receiver.js", { address, port: floorPort }, logFile, env),
      ),
      worker: started(
        await startPart("floor/worker.js", { address, bundle, baseUrl, receiverUrl }, logFile, env),
      ),
      bundle,
    };
    Object.assign(process.env, stack.env);
    const trustflow = await Trustflow.connect();
    closers.unshift(() => trustflow.close());
    const connection = await Connection.connect({ address });
    closers.unshift(() => connection.close());
    const pool = createPool(stack.databaseUrl, { max: 2 });
    closers.unshift(() => pool.end());
    const control = got.extend({ prefixUrl: baseUrl, retry: { limit: 0 } });
    if (profiles) closers.unshift(await countStatements(stack, pool, profiles));
    return {
      stack,
      serverPids: pids,
      trustflow,
      plain: new Client({ connection }),
      pool,
      floor,
      provider: {
        plan: async (plan) => void (await control.put("_plan", { json: plan })),
        release: async (plan) => void (await control.post("_release", { json: plan })),
        mark: async () => void (await control.post("_mark")),
        report: () => control("_report").json<ProviderReport>(),
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** For roles that leave a CPU profile of their main thread in that folder. */
export async function profiledEnv(folder: string): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true });
  return {
    NODE_OPTIONS: `--import ${new URL("profile.mjs", import.meta.url).href}`,
    BENCH_PROFILES: resolve(folder),
  };
}

export async function startPart(
  script: string,
  options: object,
  logFile: string,
  env?: NodeJS.ProcessEnv,
): Promise<Part> {
  const start = async (): Promise<Child> => {
    let announce: () => void = () => {};
    const ready = new Promise<void>((resolve) => (announce = resolve));
    const child = await startChild({
      command: process.execPath,
      args: [fileURLToPath(new URL(script, import.meta.url)), JSON.stringify(options)],
      logFile,
      ...(env && { env }),
      onLine: (line) => {
        if (line.startsWith('{"ready"')) announce();
      },
    });
    const outcome = await Promise.race([ready.then(() => "ready"), child.exited]);
    if (outcome !== "ready") throw new Error(`${script} ended before it was ready`);
    return child;
  };
  let child = await start();
  return {
    get pid() {
      return child.pid;
    },
    stop: () => child.stop(),
    async restart() {
      await child.stop();
      child = await start();
    },
  };
}
