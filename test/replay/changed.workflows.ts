// A release that was changed without care: it waits once more before it calls one of the activities.
import { sleep } from "@temporalio/workflow";
import type { WorkflowInterceptorsFactory } from "@temporalio/workflow";

export * from "../../src/workflows/index.js";

/** Replaced in the bundle by an activity's name. */
const changed = "CHANGED_ACTIVITY";

export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      async scheduleActivity(input, next) {
        if (input.activityType === changed) await sleep(1);
        return next(input);
      },
    },
  ],
});
