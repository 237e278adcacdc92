// Waiting for something of our own with an end, which the Web UI shows.
import { CancellationScope, condition, sleep } from "@temporalio/workflow";
import type { AnyProcess } from "./process.js";

/**
 * Whether it came true before `end`; `summary` says in the Web UI what the timer is for. Throws where the process is to end
 * meanwhile.
 */
export async function until(
  process: AnyProcess,
  isTrue: () => boolean,
  end: Date,
  summary: string,
): Promise<boolean> {
  const scope = new CancellationScope();
  let over = false;
  const timer = scope.run(async () => {
    await sleep(Math.max(0, end.getTime() - Date.now()), { summary });
    over = true;
  });
  timer.catch(() => undefined);
  await condition(() => over || process.stopped !== undefined || isTrue());
  scope.cancel();
  if (process.stopped) throw process.stopped;
  return isTrue();
}
