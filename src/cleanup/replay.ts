// Replays open processes with the workflows of this release, before its workers take them over. It changes nothing.
import { WorkflowNotFoundError } from "@temporalio/client";
import type { Client } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import type { ReplayWorkerOptions } from "@temporalio/worker";
import type { ProcessName } from "../contracts/registry.js";
import { isOpen, ofTypes } from "../temporal/visibility/query.js";
import { withoutMemos } from "../temporal/visibility/without-memos.js";

export interface Replays {
  /** How many histories replay. */
  replayed: number;
  /** Those that do not; `id` is `<process>/<business id>`. */
  problems: { id: string; problem: string }[];
  /** How many open processes were left out because of the limit. */
  notChecked: number;
}

/** Replays the newest open processes of each name, at most `limit` of each. */
export async function replayOpen(
  client: Client,
  replay: ReplayWorkerOptions,
  names: readonly ProcessName[],
  limit: number,
): Promise<Replays> {
  const replays: Replays = { replayed: 0, problems: [], notChecked: 0 };
  async function* histories() {
    for (const name of names) {
      const query = `${ofTypes([name])} AND ${isOpen}`;
      let count = 0;
      for await (const { workflowId, runId } of withoutMemos(client).list({ query })) {
        count += 1;
        if (count > limit) replays.notChecked += 1;
        else {
          const history = await client.workflow
            .getHandle(workflowId, runId)
            .fetchHistory()
            .catch((error: unknown) => {
              // It has ended meanwhile, and was erased.
              if (!(error instanceof WorkflowNotFoundError)) throw error;
            });
          if (history) yield { workflowId, history };
        }
      }
    }
  }
  for await (const { workflowId: id, error } of Worker.runReplayHistories(replay, histories())) {
    if (error) replays.problems.push({ id, problem: problemOf(error) });
    else replays.replayed += 1;
  }
  return replays;
}

/** The message of another error may hold what the process was given. */
function problemOf({ name, message }: Error): string {
  return name === "DeterminismViolationError"
    ? message
    : "its workflow task fails in this release, or a payload cannot be decoded: `trustflow doctor` checks the keys";
}
