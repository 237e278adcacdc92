// CPU a process and processes a second, callbacks in one burst and spaced: interleaved, round by round.
import { setTimeout as delay } from "node:timers/promises";
import { atLeast, atMost, compared } from "../measure.js";
import type { Measure, Round } from "../measure.js";
import { runAll } from "../sides.js";
import { meanParts, perEach } from "../spread.js";
import type { Bench, Side } from "../sides.js";

interface Run {
  cpuMs: number;
  parts: Record<string, number>;
  perSecond: number;
}

/** `Closed` comes last, each group after the one before has been worked on. */
const plans = {
  burst: { mode: "burst", firstMs: 200, gapMs: 0, times: 1 },
  spaced: { mode: "spaced", firstMs: 200, gapMs: 1_000, times: 1 },
} as const;

export async function measureProcesses({ stand, sides, quick, say }: Bench): Promise<Measure[]> {
  const [floor, trustflow] = sides;
  const number = quick ? 40 : 80;
  const rounds = quick ? 2 : 5;
  const measures: Measure[] = [];
  // Both sides run the same code many times before the first round counts.
  await stand.provider.plan(plans.burst);
  for (let warm = 0; warm < (quick ? 3 : 4); warm += 1) {
    for (const side of sides) await runAll(side, number);
  }
  for (const mode of ["burst", "spaced"] as const) {
    await stand.provider.plan(plans[mode]);
    const runs: { floor: Run; trustflow: Run }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      say(`processes, ${mode}: round ${round + 1} of ${rounds}`);
      runs.push({ floor: await run(floor, number), trustflow: await run(trustflow, number) });
    }
    const of = (value: (run: Run) => number): Round[] =>
      runs.map((round) => ({ floor: value(round.floor), trustflow: value(round.trustflow) }));
    measures.push(
      compared(
        {
          name: `cpu-${mode}`,
          unit: "ms CPU a process",
          goal: atMost(mode === "burst" ? 1 : 1.15, "ratio"),
          parts: {
            floor: meanParts(runs.map((round) => round.floor.parts)),
            trustflow: meanParts(runs.map((round) => round.trustflow.parts)),
          },
        },
        of(({ cpuMs }) => cpuMs),
      ),
    );
    if (mode === "burst") {
      const rates = of(({ perSecond }) => perSecond);
      const about = { name: "rate-burst", unit: "processes a second", goal: atLeast(1, "ratio") };
      measures.push(compared(about, rates));
    }
  }
  return measures;
}

async function run(side: Side, number: number): Promise<Run> {
  await delay(1_000);
  const before = side.cpu();
  const startedAt = performance.now();
  await runAll(side, number);
  const seconds = (performance.now() - startedAt) / 1_000;
  // What is still being written belongs to it.
  await delay(500);
  const parts = perEach(before, side.cpu(), number);
  const cpuMs = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return { cpuMs, parts, perSecond: number / seconds };
}
