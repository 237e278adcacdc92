// Steps that need not wait for each other. Each may come to a person's attention by itself, while the others go on.
import { CancellationScope } from "@temporalio/workflow";

/**
 * At most `atOnce` of them at a time; what they bring, in the order given. Where one of them ends the process, the others are
 * called off first, so that nothing of theirs stays open.
 */
export async function runConcurrently<T>(
  steps: readonly (() => Promise<T>)[],
  atOnce: number,
): Promise<T[]> {
  const brought: T[] = [];
  const left = steps.entries();
  const lane = async () => {
    for (const [index, step] of left) brought[index] = await step();
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
  return brought;
}
