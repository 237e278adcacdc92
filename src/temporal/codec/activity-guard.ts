// Refuses to run an activity whose arguments were not written with the deployment's keys: anyone who can reach Temporal could
// schedule one from their own workflow (decision 22).
import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import { isUndecryptable, isRefusedPayload } from "../../contracts/shared/payload-marks.js";

export const activityGuard: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      const refused = input.args.find(isRefusedPayload);
      if (!refused) return next(input);
      throw ApplicationFailure.create({
        type: "NotEncrypted",
        message: `the arguments were refused: ${refused.reason}`,
        // A missing or wrong key may be put right.
        nonRetryable: !isUndecryptable(refused.trustflowRefused),
      });
    },
  },
});
