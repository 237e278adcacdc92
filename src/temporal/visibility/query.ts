// Parts of visibility queries.
import type { ProcessName } from "../../contracts/registry.js";

export const isRunning = 'ExecutionStatus = "Running"';

/** Also of a process that a newer Temporal calls otherwise, as one that is paused. */
export const isOpen =
  'ExecutionStatus NOT IN ("Completed", "Failed", "Canceled", "Terminated", "ContinuedAsNew", "TimedOut")';

/** The same of a description's status. What is paused goes on later. */
export function isOpenState(name: string): boolean {
  return name === "RUNNING" || name === "PAUSED";
}

export function ofTypes(names: readonly ProcessName[]): string {
  return `WorkflowType IN (${names.map((name) => `"${name}"`).join(", ")})`;
}
