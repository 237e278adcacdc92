// Replays open processes with the workflows of this release, before its workers take them over. It changes nothing.
import type { Client } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import type { ReplayWorkerOptions } from "@temporalio/worker";
import type { ProcessName } from "../contracts/registry.js";
import { isRunning, ofTypes } from "../temporal/visibility/query.js";
import { withoutMemos } from "../temporal/visibility/without-memos.js";

export interface Replayed {
  /** `<process>/<business id>`. */
  id: string;
  /** Absent if the history replays. */
  problem?: string;
}

/** Replays the newest open processes of each name, at most `limit` of each. */
export async function* replayOpen(
  client: Client,
  replay: ReplayWorkerOptions,
  names: readonly ProcessName[],
  limit: number,
): AsyncIterable<Replayed> {
  for await (const { workflowId, error } of Worker.runReplayHistories(
    replay,
    histories(client, names, limit),
  ))
    // The message of any other error may hold what the process was given.
    yield {
      id: workflowId,
      ...(error && {
        problem: error.name === "DeterminismViolationError" ? error.message : error.name,
      }),
    };
}

async function* histories(client: Client, names: readonly ProcessName[], limit: number) {
  for (const name of names) {
    const query = `${ofTypes([name])} AND ${isRunning}`;
    let count = 0;
    for await (const { workflowId, runId } of withoutMemos(client).list({ query })) {
      if (++count > limit) break;
      yield {
        workflowId,
        history: await client.workflow.getHandle(workflowId, runId).fetchHistory(),
      };
    }
  }
}
