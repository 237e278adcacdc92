// The workers of the enumeration: ones that hold at chosen points, and ordinary ones that take over.
import { join } from "node:path";
import { startChild } from "../../../src/local/processes/child.js";
import type { Child } from "../../../src/local/processes/child.js";
import { packageDirectory } from "../../../src/local/paths.js";
import { startRole } from "../../../src/local/stack/role.js";
import type { Role } from "../../../src/local/stack/role.js";
import { cleanEnv } from "../../../src/local/stack/stack-env.js";
import { timeouts } from "../stack/stack.js";
import type { TestStack } from "../stack/stack.js";
import { until } from "./run.js";

export interface HeldWorker {
  child: Child;
  /** Workflow ids that are held, and those that were let go on. */
  reached: ReadonlySet<string>;
  passed: ReadonlySet<string>;
}

/** By workflow id: the activity and the point of worker.mjs where it is held. */
export type HoldPlan = Record<string, { activity: string; hold: string }>;

/** Longer than it takes to come to every point, so that no call ends before the interruption. */
const unhurried = {
  TRUSTFLOW_JOURNAL__LEASE_SECONDS: "20",
  ...timeouts(17),
};

export async function startHeldWorker(
  system: TestStack,
  env: Record<string, string>,
  plan: HoldPlan,
): Promise<HeldWorker> {
  const reached = new Set<string>();
  const passed = new Set<string>();
  let ready = false;
  const child = await startChild({
    command: process.execPath,
    args: [join(packageDirectory, "test", "harness", "crashes", "worker.mjs")],
    env: workerEnv(system, { ...env, ...unhurried, CRASH_PLAN: JSON.stringify(plan) }),
    logFile: join(system.stack.directory, "logs", `held-${env["TEMPORAL_NAMESPACE"]}.log`),
    ipc: true,
    onLine: (line) => {
      const said = JSON.parse(line) as { ready?: string; reached?: string; passed?: string };
      if (said.ready) ready = true;
      if (said.reached) reached.add(said.reached);
      if (said.passed) passed.add(said.passed);
    },
  });
  await until("the held worker is ready", () => {
    if (!child.isAlive()) throw new Error("the held worker did not start");
    return ready;
  });
  return { child, reached, passed };
}

export function startWorkerRole(system: TestStack, env: Record<string, string>): Promise<Role> {
  return startRole({
    name: "worker",
    env: workerEnv(system, env),
    cwd: process.cwd(),
    logDirectory: join(system.stack.directory, "logs"),
    graceMs: 3_000,
    onDeath: () => undefined,
  });
}

/** Two workers are up at once, so none gets the one health port. */
function workerEnv(system: TestStack, env: Record<string, string>): NodeJS.ProcessEnv {
  return {
    ...cleanEnv(),
    ...system.stack.envOf("worker"),
    TRUSTFLOW_WORKER__HEALTH_PORT: "0",
    ...env,
  };
}
