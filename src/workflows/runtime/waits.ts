// Waits with a time limit, which the status and the Web UI show.
import { condition } from "@temporalio/workflow";
import { Timer } from "./clock.js";
import type { AnyFlow } from "./flow.js";

/**
 * Returns whether `isTrue` came true before `end`. Meanwhile the status shows that the process waits for `what`, and the Web UI
 * shows `summary` at the timer. Throws when the process is stopped.
 */
export async function waitUntil(
  flow: AnyFlow,
  isTrue: () => boolean,
  { what, end, summary }: { what: string; end: Date; summary: string },
): Promise<boolean> {
  flow.status.waitFor(what, end);
  const timer = new Timer(end, summary);
  await condition(() => timer.isOver || flow.lifecycle.stopped !== undefined || isTrue());
  timer.cancel();
  if (flow.lifecycle.stopped) throw flow.lifecycle.stopped;
  flow.status.waitFor(undefined);
  return isTrue();
}

/**
 * For an update that may come too early, because after a reset, earlier updates are delivered again at the very start.
 * Returns when it is due, or after this many seconds.
 */
export async function waitUntilDue(isDue: () => boolean, seconds = 5): Promise<void> {
  if (!isDue()) await condition(isDue, `${seconds} seconds`);
}
