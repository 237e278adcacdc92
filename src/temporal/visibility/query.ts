// Parts of visibility queries.
import type { ProcessName } from "../../contracts/registry.js";

export const isRunning = 'ExecutionStatus = "Running"';

export function ofTypes(names: readonly ProcessName[]): string {
  return `WorkflowType IN (${names.map((name) => `"${name}"`).join(", ")})`;
}
