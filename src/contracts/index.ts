// The package publishes it as `trustflow-client/contracts`.
import { registry } from "./registry.js";
import type { ProcessName, Registry } from "./registry.js";

export * from "./processes.js";
export * from "./shared/failures.js";
export * from "./shared/messages.js";
export * from "./shared/names.js";
export * from "./shared/provider-event.js";
export * from "./shared/status.js";
export * from "./shared/values.js";
export { decisionUpdates, parseWorkflowId, processes } from "./registry.js";
export type { ProcessName } from "./registry.js";

export const contracts = Object.fromEntries(
  Object.entries(registry).map(([name, { input, result, status }]) => [
    name,
    { input, result, status },
  ]),
) as { [P in ProcessName]: Pick<Registry[P], "input" | "result" | "status"> };
