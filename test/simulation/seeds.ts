// Runs plans, each in a process of its own, because a simulation changes the clock and the network of its process.
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import type { Plan } from "./plan.js";
import type { Report } from "./report.js";

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `10m` or `8h`. */
export function msOf(time: string | undefined): number {
  return time === undefined ? Infinity : Number(time.slice(0, -1)) * units[time.at(-1)!]!;
}

export interface Done {
  plan: Plan;
  report: Report;
}

/** As many at a time as there are cores; begins no plan once `ms` are over. */
export async function* runAll(
  plans: AsyncIterator<Plan> | Iterator<Plan>,
  ms: number,
  tree?: URL,
): AsyncGenerator<Done> {
  const end = Date.now() + ms;
  const running = new Set<Promise<Done>>();
  for (let isOver = false; !isOver || running.size > 0;) {
    while (!isOver && running.size < availableParallelism()) {
      const { value: plan, done } = await plans.next();
      isOver = done === true || Date.now() >= end;
      if (isOver) break;
      const own = run(plan as Plan, tree).then((report) => ({ plan: plan as Plan, report }));
      running.add(own);
      void own.finally(() => running.delete(own)).catch(() => undefined);
    }
    if (running.size > 0) yield await Promise.race(running);
  }
}

/** `tree`: the sources that it runs, where they are not these. */
export function run(plan: Plan, tree = new URL("../../", import.meta.url)): Promise<Report> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL("test/simulation/one.ts", tree), {
      execArgv: ["--import", new URL("test/simulation/loader.mjs", tree).href],
      env: { ...process.env, TEMPORAL_DEBUG: "1", TZ: "UTC" },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    let report: Report | undefined;
    child.on("message", (message) => (report = message as Report));
    child.on("exit", (code, signal) =>
      report
        ? resolve(report)
        : reject(new Error(`seed ${plan.seed}: the simulation ended with ${signal ?? code}`)),
    );
    child.send(plan);
  });
}
