// Releases with a defect: one waits once more before an activity, so that its histories do not replay elsewhere; one throws
// at each callback of a process whose id begins with "defect".
import { sleep, workflowInfo, type WorkflowInterceptorsFactory } from "@temporalio/workflow";

export * from "../../../src/workflows/index.js";

/** Replaced in the bundle by an activity's name. */
const waitsBefore = "WAITS_BEFORE";
/** Replaced in the bundle by a signal's name. */
const throwsAt = "THROWS_AT";

export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      async handleSignal(input, next) {
        if (input.signalName === throwsAt && workflowInfo().workflowId.includes("/defect"))
          throw new Error("a defect of this release");
        return next(input);
      },
    },
  ],
  outbound: [
    {
      async scheduleActivity(input, next) {
        if (input.activityType === waitsBefore) await sleep(1);
        return next(input);
      },
    },
  ],
});
