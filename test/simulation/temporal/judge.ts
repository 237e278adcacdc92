// The judge of the engine: the SDK's native core replays the histories that the engine has written.
import { Worker } from "@temporalio/worker";
import type { ReplayWorkerOptions } from "@temporalio/worker";
import proto from "@temporalio/proto";
import type { Run } from "./run.js";

const { History } = proto.temporal.api.history.v1;

/** What the core says of each history that it cannot replay. */
export async function replayProblems(
  runs: Pick<Run, "id" | "events">[],
  options: ReplayWorkerOptions,
): Promise<string[]> {
  const problems: string[] = [];
  const histories = runs.map(({ id, events }) => ({
    workflowId: id,
    history: History.decode(History.encode({ events }).finish()),
  }));
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories))
    if (error) problems.push(`${workflowId}: ${error.message}`);
  return problems;
}
