// A crash between any two events: not at a time, but at the nth thing that a program does after something has begun.
import { AsyncResource } from "node:async_hooks";
import type { Stage } from "./stage.js";
import { EventType } from "./temporal/history.js";

/** The crash comes at one of so many events of the program. */
const MOST_EVENTS = 40;

/** After which the events of the program count. */
const beginnings: Record<string, (kind: string, details: readonly unknown[]) => boolean> = {
  "a callback": (kind, [from, to]) => kind === "tcp" && from === "providers" && to === "receiver",
  "a signal": (kind, [, , type]) =>
    kind === "event" && type === EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
  "a call": (kind, [from, to]) => kind === "tcp" && from === "worker" && to === "providers",
  "an answer": (kind, [from, to]) => kind === "tcp" && from === "providers" && to === "worker",
  "a step": (kind, [, , type]) =>
    kind === "event" && type === EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
};

/** Whether the program has a part in the event: a chunk that it sends or gets, a statement, a file, or an event of a history. */
function concerns(name: string, kind: string, details: readonly unknown[]): boolean {
  if (kind === "tcp") return details[0] === name || details[1] === name;
  if (kind === "sql") return details[0] === name;
  return kind === "event" || kind === "file";
}

export function crashAtEvent(stage: Stage, at: number, restartMs: number): void {
  const { world, system, say } = stage;
  const random = world.fork(`crash at ${at}`);
  const name = random.pick(["worker", "worker", "relay", "relay", "receiver"] as const);
  const beginning = random.pick(Object.keys(beginnings));
  let left = 1 + Math.floor(MOST_EVENTS * random.next() ** 2);
  let hasBegun = false;
  const here = AsyncResource.bind(() => void system.roles[name].kill(restartMs));
  const stop = world.watch((kind, details) => {
    hasBegun ||= beginnings[beginning]!(kind, details);
    if (!hasBegun || !concerns(name, kind, details) || --left > 0) return;
    stop();
    here();
    say(`the ${name} crashes at ${kind} after ${beginning}`);
  });
}
