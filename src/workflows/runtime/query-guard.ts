// Refuses a query whose answer would leave a corrupt process in the worker's memory (decision 15). A query that has waited for
// a worker is handed over with the events that came meanwhile. SDK 1.24 applies them although this worker has no workflow task
// for them: at another time, and ahead of the signals and updates that the task will bring. The commands of that run are sent
// later all the same, and no replay makes them again. A refused query takes the process out of the memory; asked again, it is
// answered.
import type { WorkflowInterceptors, WorkflowInternalsInterceptor } from "@temporalio/workflow";
import { queryTooEarly } from "../../contracts/shared/messages.js";

export const interceptors = (): WorkflowInterceptors => ({ internals: [queryGuard()] });

/** How the SDK names a query that came without a workflow task. */
const alone = "legacy_query";

function queryGuard(): WorkflowInternalsInterceptor {
  let task = { startedAt: "", historyLength: 0 };
  /** A replay has loaded the process, and nothing has come since that ends the load. */
  let isLoading = false;
  /** The newest events may be those that a query has brought along. */
  let isInDoubt = false;
  return {
    activate(input, next) {
      const { timestamp, jobs, isReplaying } = input.activation;
      const historyLength = input.activation.historyLength ?? 0;
      const query = jobs?.find(({ queryWorkflow }) => queryWorkflow)?.queryWorkflow;
      if (query) {
        if (isInDoubt && query.queryId === alone) throw new Error(queryTooEarly);
        isLoading = isInDoubt = false;
      } else if (historyLength > task.historyLength) {
        // Each workflow task has a time of its own: new events without a new time belong to a task that has not started.
        const startedAt = `${String(timestamp?.seconds)}.${timestamp?.nanos ?? 0}`;
        const isAhead = startedAt === task.startedAt;
        // The first new events after a replay came with a task of this worker, or with the query: nothing tells them apart.
        isInDoubt = isAhead || (isLoading && !isReplaying);
        isLoading = isReplaying === true;
        task = { startedAt, historyLength };
      }
      next(input);
    },
  };
}
