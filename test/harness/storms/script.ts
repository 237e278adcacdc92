// What `npm run storm` runs: the two harnesses, one after the other, in their long form.
import type { StackOptions } from "../../../packages/dev/src/stack/stack.js";
import { calledBack } from "../../processes/index.js";
import { startTestStack, type TestStack } from "../stack/stack.js";
import { mixes, runMixedLoad } from "./mix.js";
import { runStorm } from "./run.js";

/** The callbacks are genuine, however many: each process is told of all that it keeps. */
export const stormEnv = {
  TRUSTFLOW_RELAY__LEASE_SECONDS: "5",
  TRUSTFLOW_CALLBACKS__EVENTS_PER_PROCESS: "1000",
};
/** On two cores, with everything on them. */
const PER_SECOND = 3;

export async function storms({
  minutes,
  callbacks: count,
  progress,
}: {
  minutes: number;
  callbacks: number;
  progress(line: string): void;
}) {
  const callbacks = [];
  for (const underTest of calledBack) {
    progress(`${count} callbacks for ${underTest.process}`);
    const load = { callbacks: count, connections: 256 };
    callbacks.push(await onStack((system) => runStorm(system, underTest, load)));
  }
  const mixed = [];
  for (const mix of mixes) {
    progress(`mixed load for ${minutes} minutes: ${mix.of}`);
    const during = { seconds: minutes * 60, perSecond: PER_SECOND, progress };
    mixed.push(
      await onStack((system) => runMixedLoad(system, mix, during), { sandboxSpeed: mix.speed }),
    );
  }
  const problems = [...callbacks.flatMap(problemsOf), ...mixed.flatMap((of) => of.problems)];
  return { callbacks, mixed, problems };
}

function problemsOf(storm: Awaited<ReturnType<typeof runStorm>>): string[] {
  const { lost, twice, foreign, unacknowledged, settled, wrongEffects } = storm;
  return [
    ...lost.map((key) => `lost: ${key}`),
    ...twice.map((key) => `twice: ${key}`),
    ...foreign.map((key) => `foreign: ${key}`),
    ...wrongEffects.map((id) => `effects: ${id}`),
    ...(unacknowledged > 0 ? [`${unacknowledged} never acknowledged`] : []),
    ...(settled ? [] : ["callbacks still wait"]),
  ];
}

async function onStack<T>(
  work: (system: TestStack) => Promise<T>,
  options: Partial<StackOptions> = {},
): Promise<T> {
  const system = await startTestStack({ env: stormEnv, ...options });
  try {
    return await work(system);
  } finally {
    await system.close();
  }
}
