// Refuses a query whose answer would leave a corrupt process in the worker's memory (decision 15). A query that has waited for
// a worker is handed over with the events that came meanwhile. SDK 1.24 applies them before their workflow task has started: at
// the time of the task before, and ahead of each signal and update that the task will bring. The commands of that run are sent
// later all the same, and no replay makes them again. A refused query takes the process out of the memory; asked again, it is
// answered.
import type { WorkflowInterceptors, WorkflowInternalsInterceptor } from "@temporalio/workflow";
import { queryTooEarly } from "../contracts/messages.js";

export const interceptors = (): WorkflowInterceptors => ({ internals: [queryGuard()] });

function queryGuard(): WorkflowInternalsInterceptor {
  let task = { startedAt: "", historyLength: 0 };
  let isAhead = false;
  return {
    activate(input, next) {
      const { timestamp, jobs } = input.activation;
      const historyLength = input.activation.historyLength ?? 0;
      if (jobs?.some(({ queryWorkflow }) => queryWorkflow)) {
        if (isAhead) throw new Error(queryTooEarly);
      } else {
        // Each workflow task has a time of its own: new events without a new time belong to a task that has not started.
        const startedAt = `${String(timestamp?.seconds)}.${timestamp?.nanos ?? 0}`;
        if (startedAt !== task.startedAt) isAhead = false;
        else if (historyLength > task.historyLength) isAhead = true;
        task = { startedAt, historyLength };
      }
      next(input);
    },
  };
}
