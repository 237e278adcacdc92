// Writes the status of a process into its memo at the end of each workflow task that has changed it (docs/decisions/0035).
import type { WorkflowInterceptors } from "@temporalio/workflow";
import { withMemo } from "./status-memo.js";

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      concludeActivation(input, next) {
        const { commands } = next(input);
        return { commands: withMemo(commands) };
      },
    },
  ],
});
