// Waiting for something of our own with an end, which the Web UI shows.
import { condition } from "@temporalio/workflow";
import { Timer } from "./clock.js";
import type { AnyFlow } from "./flow.js";

/**
 * Whether it came true before `end`; meanwhile the process shows that it waits for `what`, and the Web UI by `summary` what the
 * timer is for. Throws where the process is to end meanwhile.
 */
export async function until(
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
 * For an update that may come before the process is up to it: as after a reset, when what was said before comes back at the
 * very start. Returns when it is due, or after five seconds.
 */
export async function whenDue(isDue: () => boolean): Promise<void> {
  if (!isDue()) await condition(isDue, "5 seconds");
}
