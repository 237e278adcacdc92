import type { ProcessStatus } from "../../../src/contracts/shared/status.js";

/** The status of a process of the sandbox that is tracked, and of which nothing has been told yet. */
export const trackedStatus = (
  processName: string,
  id: string,
  more: Partial<ProcessStatus> = {},
): ProcessStatus => ({
  ...{ process: processName, id, environment: "sandbox", account: "default" },
  ...{ phase: "tracking", references: {}, timeline: [] },
  ...more,
});
