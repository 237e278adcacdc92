// Hands the trace of the start on to activities, children and the next run. No span is made here, because a workflow's code runs again in
// each replay; src/activities/runtime/tracing.ts makes them.
import type { Headers, WorkflowInterceptors } from "@temporalio/workflow";
import { traceHeader } from "../../contracts/shared/names.js";

export const interceptors = (): WorkflowInterceptors => {
  let ofStart: Headers = {};
  const traced = <I extends { headers: Headers }>(input: I): I => ({
    ...input,
    headers: { ...input.headers, ...ofStart },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const { [traceHeader]: trace } = input.headers;
          if (trace) ofStart = { [traceHeader]: trace };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(traced(input)),
        startChildWorkflowExecution: (input, next) => next(traced(input)),
        continueAsNew: (input, next) => next(traced(input)),
      },
    ],
  };
};
