// The worker itself: how long it takes to start, how much it holds idle and for each waiting process, and the bundle.
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { atMost, compared } from "../measure.js";
import type { Measure, Round } from "../measure.js";
import { residentBytes } from "../proc.js";
import { runAll } from "../sides.js";
import type { Bench, Side } from "../sides.js";
import { hold } from "./waiting.js";

export async function measureWorker(bench: Bench): Promise<Measure[]> {
  const { stand, sides, quick, say } = bench;
  const [floor, trustflow] = sides;
  const starts: Round[] = [];
  const idle: Round[] = [];
  for (let round = 0; round < (quick ? 2 : 5); round += 1) {
    say(`worker: start ${round + 1}`);
    const one = await start(floor);
    const other = await start(trustflow);
    starts.push({ floor: one.seconds, trustflow: other.seconds });
    idle.push({ floor: one.megabytes, trustflow: other.megabytes });
  }
  const cached: Round[] = [];
  for (let round = 0; round < (quick ? 1 : 2); round += 1) {
    say(`worker: memory of waiting processes, round ${round + 1}`);
    cached.push({
      floor: await cachedKb(bench, floor),
      trustflow: await cachedKb(bench, trustflow),
    });
  }
  const own = fileURLToPath(new URL("../../dist/workflow-bundle.js", import.meta.url));
  const bundle = {
    floor: statSync(stand.floor.bundle).size / 1e6,
    trustflow: statSync(own).size / 1e6,
  };
  return [
    compared(
      { name: "worker-start", unit: "s until it polls", goal: atMost(1.5, "ratio") },
      starts,
    ),
    compared({ name: "worker-idle", unit: "MB resident", goal: atMost(1.3, "ratio") }, idle),
    compared(
      {
        name: "memory-waiting",
        unit: "kB a cached waiting process",
        goal: atMost(1.3, "ratio"),
      },
      cached,
    ),
    compared({ name: "bundle", unit: "MB", goal: atMost(1.3, "ratio") }, [bundle]),
  ];
}

async function start(side: Side): Promise<{ seconds: number; megabytes: number }> {
  await side.worker().stop();
  const startedAt = performance.now();
  await side.worker().restart();
  const seconds = (performance.now() - startedAt) / 1_000;
  await delay(3_000);
  return { seconds, megabytes: residentBytes(side.worker().pid) / 1e6 };
}

/** What each further waiting process adds to a worker that has some experience. */
async function cachedKb(bench: Bench, side: Side): Promise<number> {
  const number = bench.quick ? 100 : 500;
  await side.worker().restart();
  await bench.stand.provider.plan({ mode: "burst", firstMs: 100, gapMs: 0, times: 1 });
  await runAll(side, 50);
  await delay(2_000);
  const before = residentBytes(side.worker().pid);
  const waiting = await hold(bench, side, number);
  await delay(3_000);
  const after = residentBytes(side.worker().pid);
  await waiting.end();
  return (after - before) / 1_024 / number;
}
