// What goes wrong between Temporal and its workers: tasks that get lost, a memory that is full, queries that come before their task.
import { during } from "./stage.js";
import type { Stage } from "./stage.js";
import { EventType } from "./temporal/history.js";

const LOST_SHARE = 0.3;
const ASKED_SHARE = 0.8;

/** Some workflow tasks get lost on their way to the worker, or on the way back. */
export function loseTasks(stage: Stage, forMs: number): void {
  const { system, world } = stage;
  const random = world.fork("lost tasks");
  const lose = () =>
    random.chance(LOST_SHARE) ? random.pick(["task", "completion", "answer"] as const) : undefined;
  during(stage, "loseTasks", forMs, (isOn) => (system.faults.losesTask = isOn ? lose : undefined));
}

export function fillCache(stage: Stage, forMs: number): void {
  during(
    stage,
    "fillCache",
    forMs,
    (isOn) => (stage.system.faults.cachedRuns = isOn ? 1 : undefined),
  );
}

/** News of which no task tells yet. */
const news = new Set<unknown>([
  EventType.EVENT_TYPE_TIMER_FIRED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
]);

/** A query that waited for a worker comes to it together with news, before the task that tells them (decision 15). */
export function askEarly({ system, world }: Stage, forMs: number): void {
  const random = world.fork("early queries");
  const stop = world.watch((kind, [id, , type]) => {
    if (kind !== "event" || !news.has(type) || !random.chance(ASKED_SHARE)) return;
    const run = system.temporal.latest(String(id));
    if (run) system.temporal.askNow(run);
  });
  world.after(forMs, stop);
}
