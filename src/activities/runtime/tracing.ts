// Each attempt of an activity is a span below the one that started its process, if that start was traced.
import { context, propagation } from "@opentelemetry/api";
import type { Context } from "@temporalio/activity";
import { defaultPayloadConverter } from "@temporalio/common";
import type { Headers, Payload } from "@temporalio/common";
import { traceHeader } from "../../contracts/shared/names.js";
import { inSpan } from "../../providers/http/exchange.js";

/** An interceptor of the worker's activities. */
export const activityTracing = ({ info }: Context) => ({
  inbound: {
    execute<Input extends { headers: Headers }>(
      input: Input,
      next: (input: Input) => Promise<unknown>,
    ) {
      const parent = propagation.extract(context.active(), carrierOf(input.headers[traceHeader]));
      const attributes = {
        temporalWorkflowId: info.workflowExecution?.workflowId,
        temporalRunId: info.workflowExecution?.runId,
        "temporal.attempt": info.attempt,
      };
      return context.with(parent, () =>
        inSpan(`RunActivity:${info.activityType}`, { attributes }, () => next(input)),
      );
    },
  },
});

/** Whoever starts a process writes the header: what is no carrier counts as none. */
function carrierOf(payload: Payload | undefined): object {
  try {
    const carrier: unknown = payload && defaultPayloadConverter.fromPayload(payload);
    return typeof carrier === "object" && carrier !== null ? carrier : {};
  } catch {
    return {};
  }
}
