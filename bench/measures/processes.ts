// CPU a process and processes a second, callbacks in one burst and spaced: interleaved, round by round. CPU is compared with the floor,
// and with a floor that has a status.
import { setTimeout as delay } from "node:timers/promises";
import { atLeast, atMost, compared } from "../measure.js";
import type { About, Measure, Round } from "../measure.js";
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
  const [floor, trustflow, withStatus] = sides;
  const number = quick ? 40 : 80;
  const rounds = quick ? 2 : 5;
  const measures: Measure[] = [];
  // All sides run the same code many times before the first round counts.
  await stand.provider.plan(plans.burst);
  for (let warm = 0; warm < (quick ? 3 : 4); warm += 1) {
    for (const side of sides) await runAll(side, number);
  }
  for (const mode of ["burst", "spaced"] as const) {
    await stand.provider.plan(plans[mode]);
    const runs: Record<"floor" | "trustflow" | "withStatus", Run>[] = [];
    for (let round = 0; round < rounds; round += 1) {
      say(`processes, ${mode}: round ${round + 1} of ${rounds}`);
      runs.push({
        floor: await run(floor, number),
        trustflow: await run(trustflow, number),
        withStatus: await run(withStatus, number),
      });
    }
    type Other = "floor" | "withStatus";
    const of = (other: Other, value: (run: Run) => number): Round[] =>
      runs.map((round) => ({ floor: value(round[other]), trustflow: value(round.trustflow) }));
    const against = (other: Other, about: Omit<About, "parts">): Measure =>
      compared(
        {
          ...about,
          parts: {
            floor: meanParts(runs.map((round) => round[other].parts)),
            trustflow: meanParts(runs.map((round) => round.trustflow.parts)),
          },
        },
        of(other, ({ cpuMs }) => cpuMs),
      );
    const unit = "ms CPU a process";
    const goal = atMost(1.05, "ratio");
    measures.push(
      against("floor", { name: `cpu-${mode}`, unit, goal }),
      against("withStatus", {
        name: `cpu-${mode}-status`,
        unit: `${unit}; the floor with a status`,
      }),
    );
    if (mode === "burst") {
      const rates = of("floor", ({ perSecond }) => perSecond);
      const about = {
        name: "rate-burst",
        unit: "processes a second",
        goal: atLeast(0.95, "ratio"),
      };
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
