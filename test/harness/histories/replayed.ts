// What the histories tell after roles have ended and started again: failed workflow tasks, and what does not replay.
import { decodeOptionalFailureToOptionalError } from "@temporalio/common/lib/internal-non-workflow/index.js";
import protobuf from "@temporalio/proto";
import { readFile } from "node:fs/promises";
import pLimit from "p-limit";
import { replay } from "./replaying.js";
import { historyOf, ringOf, type TestStack } from "../stack/stack.js";

const { WorkflowTaskFailedCause } = protobuf.temporal.api.enums.v1;
type History = protobuf.temporal.api.history.v1.IHistory;

const CONCURRENT_FETCHES = 10;

/** Without the tasks that the SDK gave back and got again whole, because its memory was behind the server (decision 15). */
export async function examine(system: TestStack, workflowIds: readonly string[]) {
  const histories = await pLimit(CONCURRENT_FETCHES).map(workflowIds, async (workflowId) => ({
    workflowId,
    history: await historyOf(system, workflowId),
  }));
  const { loadedDataConverter: converter } = system.client.temporal.options;
  for (const { history } of histories)
    for (const { workflowTaskFailedEventAttributes: failed } of history.events ?? []) {
      const error = await decodeOptionalFailureToOptionalError(converter, failed?.failure);
      if (failed?.failure && error) failed.failure.message = error.message;
    }
  const failures = histories.flatMap(({ workflowId, history }) =>
    failedTasksIn(history).map((failure) => `${workflowId}: ${failure}`),
  );
  const failedTasks = failures.filter((failure) => !failure.includes("History is out of order"));
  const code = await readFile("dist/workflow-bundle.js", "utf8");
  const met = await replay(code, ringOf(system.stack, "CODEC"), histories);
  const corrupt = [...met].flatMap(([workflowId, error]) =>
    error ? [`${workflowId}: ${error.message}`] : [],
  );
  return { failedTasks, corrupt };
}

/** Not those of the server: a process that ends while an event comes is asked again, with the event (`UnhandledCommand`). */
export function failedTasksIn({ events }: Pick<History, "events">): string[] {
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed && failed.cause !== WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
      ? [`${WorkflowTaskFailedCause[failed.cause ?? 0]} ${failed.failure?.message ?? ""}`]
      : [],
  );
}
