// Runs steps concurrently. Each step may raise its own attention while the others continue.
import { CancellationScope } from "@temporalio/workflow";

/**
 * Runs the steps, at most `atOnce` at a time, and returns their results in the order of `steps`. When a step ends the process, the
 * others are cancelled and awaited first, so that none of their calls stays open.
 */
export async function runConcurrently<T>(
  steps: readonly (() => Promise<T>)[],
  atOnce: number,
): Promise<T[]> {
  const results: T[] = [];
  const left = steps.entries();
  const lane = async () => {
    for (const [index, step] of left) results[index] = await step();
  };
  const scope = new CancellationScope();
  const lanes = Array.from({ length: Math.min(atOnce, steps.length) }, () => scope.run(lane));
  try {
    await Promise.all(lanes);
  } catch (error) {
    scope.cancel();
    await Promise.allSettled(lanes);
    throw error;
  }
  return results;
}
