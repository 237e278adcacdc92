// What `npm run storm` runs: the storm of callbacks of each process that is called back, in its long form.
import { calledBack } from "../../processes/index.js";
import { startTestStack, type TestStack } from "../stack/stack.js";
import { runStorm } from "./run.js";

/** The callbacks are genuine, however many: each process is told of all that it keeps. */
export const stormEnv = {
  TRUSTFLOW_RELAY__LEASE_SECONDS: "5",
  TRUSTFLOW_CALLBACKS__EVENTS_PER_PROCESS: "1000",
};
export async function storms({
  callbacks: count,
  progress,
}: {
  callbacks: number;
  progress(line: string): void;
}) {
  const callbacks = [];
  for (const underTest of calledBack) {
    progress(`${count} callbacks for ${underTest.process}`);
    const load = { callbacks: count, connections: 256 };
    callbacks.push(await onStack((system) => runStorm(system, underTest, load)));
  }
  return { callbacks, problems: callbacks.flatMap(problemsOf) };
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

async function onStack<T>(work: (system: TestStack) => Promise<T>): Promise<T> {
  const system = await startTestStack({ env: stormEnv });
  try {
    return await work(system);
  } finally {
    await system.close();
  }
}
