// What `npm run storm` runs: the two harnesses, one after the other, in their long form.
import type { CalledBack } from "../../processes/process-under-test.js";
import { startTestStack } from "../stack/stack.js";
import { Landing } from "./landing.js";
import { runMixedLoad } from "./mix.js";
import type { MixReport } from "./mix.js";
import { runStorm } from "./run.js";
import type { StormReport } from "./run.js";

export interface StormsReport {
  callbacks: StormReport;
  mixed: MixReport;
  problems: string[];
}

export interface StormsOptions {
  minutes: number;
  callbacks: number;
  progress(line: string): void;
}

/** The callbacks are genuine, however many: each process is told of all that it keeps. */
export const stormEnv = {
  TRUSTFLOW_RELAY__LEASE_SECONDS: "5",
  TRUSTFLOW_CALLBACKS__EVENTS_PER_PROCESS: "1000",
};
/** On two cores, with everything on them. */
const PER_SECOND = 3;

export async function storms(
  underTest: CalledBack,
  { minutes, callbacks: count, progress }: StormsOptions,
): Promise<StormsReport> {
  progress(`${count} callbacks`);
  const callbacks = await onStack(async (system) => {
    const landing = new Landing(system);
    const report = await runStorm(system, underTest, landing, {
      callbacks: count,
      connections: 256,
    });
    await landing.close();
    return report;
  });
  progress(`mixed load for ${minutes} minutes`);
  const mixed = await onStack((system) =>
    runMixedLoad(system, underTest, { seconds: minutes * 60, perSecond: PER_SECOND, progress }),
  );
  const { lost, twice, foreign, unacknowledged, settled, wrongEffects } = callbacks;
  const problems = [
    ...lost.map((key) => `lost: ${key}`),
    ...twice.map((key) => `twice: ${key}`),
    ...foreign.map((key) => `foreign: ${key}`),
    ...wrongEffects.map((id) => `effects: ${id}`),
    ...(unacknowledged > 0 ? [`${unacknowledged} never acknowledged`] : []),
    ...(settled ? [] : ["callbacks still wait"]),
    ...mixed.problems,
  ];
  return { callbacks, mixed, problems };
}

/** For people. */
export function linesOf({ callbacks, mixed, problems }: StormsReport): string {
  const { lost, twice, foreign, ...figures } = callbacks;
  const summary = { ...figures, lost: lost.length, twice: twice.length, foreign: foreign.length };
  const lines = [
    ...Object.entries(summary).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    ...Object.entries(mixed).map(([name, value]) => `mixed ${name}: ${JSON.stringify(value)}`),
    problems.length === 0 ? "All is well." : `${problems.length} problems.`,
  ];
  return `${lines.join("\n")}\n`;
}

type System = Awaited<ReturnType<typeof startTestStack>>;

async function onStack<T>(work: (system: System) => Promise<T>): Promise<T> {
  const system = await startTestStack({ env: stormEnv });
  try {
    return await work(system);
  } finally {
    await system.close();
  }
}
