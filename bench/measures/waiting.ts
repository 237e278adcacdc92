// Processes that have submitted and wait for callbacks that do not come.
import { setTimeout as delay } from "node:timers/promises";
import type { Bench, Side, Started } from "../sides.js";

export interface Waiting {
  ids: string[];
  /** When all have ended; they must have been released. */
  results(): Promise<unknown>;
  /** Without their callbacks. */
  end(): Promise<void>;
}

export async function hold({ stand }: Bench, side: Side, number: number): Promise<Waiting> {
  await stand.provider.plan({ mode: "hold", firstMs: 0, gapMs: 0, times: 1 });
  const { letters } = await stand.provider.report();
  const started: Started[] = [];
  // In portions, so that nothing times out.
  while (started.length < number) {
    const portion = Math.min(50, number - started.length);
    started.push(...(await Promise.all(Array.from({ length: portion }, () => side.start()))));
  }
  while ((await stand.provider.report()).letters < letters + number) await delay(100);
  // The last submits are still on their way into the history.
  await delay(2_000);
  const ids = started.map(({ workflowId }) => workflowId);
  return {
    ids,
    results: () => Promise.all(started.map((one) => one.result())),
    async end() {
      await Promise.all(
        ids.map(async (id) => stand.plain.workflow.getHandle(id).terminate("end of the bench")),
      );
      await delay(500);
    },
  };
}
