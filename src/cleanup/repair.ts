// Repairs stuck processes by one reset to the last good workflow task, which the journal makes safe. Temporal applies later
// signals and updates again. If a process gets stuck again, an operator must look at it.
import type { Client, ConnectionLike } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/client";
import proto from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import type { ReplayWorkerOptions } from "@temporalio/worker";
import { repaired } from "../contracts/shared/messages.js";
import {
  candidatesQuery,
  filterStuck,
  isLate,
  listExecutions,
  repairReason,
} from "../temporal/visibility/stuck.js";
import type { Execution, HistoryEvent, Stuck } from "../temporal/visibility/stuck.js";

export interface RepairOptions {
  client: Client;
  /** For the resets: a connection that repeats no call whose answer was lost. */
  withoutRetries: Pick<ConnectionLike, "workflowService" | "withDeadline">;
  /** Asked before each reset: whether this clean-up is the one that repairs. */
  mayReset(): Promise<boolean>;
  /** Loads the worker's present workflows, and the codec for their payloads, when they are needed. */
  replay(): Promise<ReplayWorkerOptions>;
  /** A younger failure may come from a release that is about to be rolled back. */
  afterSeconds: number;
  dryRun?: boolean;
  now?: Date;
}

export interface Repairs {
  /** Workflow ids; with a dry run, what would be reset. */
  repaired: string[];
  /** Stuck and not reset. */
  left: { id: string; why: string }[];
}

interface StuckProcess {
  execution: Execution;
  stuck: Stuck;
  events: HistoryEvent[];
}

class LeftAlone extends Error {}

const CALL_MS = 20_000;

const lateTasks = {
  NOT_TAKEN: "no worker takes its workflow task: check that workers run and poll",
  TIMED_OUT: "its workflow task times out at a worker: restart the workers, or give them less work",
};

const { EventType, ResetReapplyType } = proto.temporal.api.enums.v1;

export async function repairStuck(options: RepairOptions): Promise<Repairs> {
  const { connection, options: settings } = options.client;
  const where = { connection, namespace: settings.namespace };
  const repairs: Repairs = { repaired: [], left: [] };
  const open = listExecutions(where, await candidatesQuery(where));
  // An error with one process does not stop the repair of the others.
  const leave = ({ workflowId: id }: { workflowId: string }, error: unknown) => {
    // It has ended, or another clean-up was faster.
    if (error instanceof WorkflowNotFoundError) return;
    const { name, message } = error as Error;
    repairs.left.push({ id, why: error instanceof LeftAlone ? message : `an error: ${name}` });
  };
  for await (const found of filterStuck(where, open, leave)) {
    try {
      await repairOne(options, found);
      repairs.repaired.push(found.execution.workflowId);
    } catch (error) {
      leave(found.execution, error);
    }
  }
  return repairs;
}

async function repairOne(
  options: RepairOptions,
  { execution: { workflowId, runId }, stuck, events }: StuckProcess,
): Promise<void> {
  const { client, withoutRetries, mayReset, replay, afterSeconds } = options;
  const { dryRun = false, now = new Date() } = options;
  const { since, repairedAt } = stuck;
  // Its history is good: a reset would schedule a task that waits as this one does.
  if (isLate(stuck)) throw new LeftAlone(lateTasks[stuck.cause]);
  if (repairedAt !== undefined) throw new LeftAlone("still stuck after one repair");
  if (now.getTime() - Date.parse(since) < afterSeconds * 1_000)
    throw new LeftAlone(`failing for less than ${afterSeconds} s`);
  const good = await lastGoodTask(await replay(), workflowId, events);
  const eventId = good?.eventId;
  if (!eventId) throw new LeftAlone("no workflow task of its history replays");
  if (dryRun) return;
  // Server 1.29 knows a second reset of a run by its request id. 1.32 starts another run, without the signals that came after the first
  // reset: so one clean-up repairs at a time, and no call is repeated.
  if (!(await mayReset())) throw new LeftAlone("another clean-up repairs now");
  const deadline = Date.now() + CALL_MS;
  // Sent first, so that no crash in between loses it. It is applied again after the reset, and has no effect without one. It is refused
  // where another clean-up has reset the run.
  await client.withDeadline(deadline, () =>
    client.workflow.getHandle(workflowId, runId).signal(repaired, { runId, since }),
  );
  await withoutRetries.withDeadline(deadline, () =>
    withoutRetries.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: eventId,
      resetReapplyType: ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
      reason: repairReason,
      requestId: `trustflow-repair-${runId}`,
    }),
  );
}

/** The last completed workflow task up to which the history replays: found by halving, with the whole history first. */
async function lastGoodTask(
  replay: ReplayWorkerOptions,
  workflowId: string,
  events: HistoryEvent[],
): Promise<HistoryEvent | undefined> {
  const tasks = [...events.entries()].filter(
    ([, { eventType }]) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
  );
  if (tasks.length === 0) return undefined;
  let good = -1;
  let bad = tasks.length;
  let tried = bad - 1;
  function* prefixes() {
    for (; good + 1 < bad; tried = (good + bad) >> 1) {
      const [index = 0] = tasks[tried] ?? [];
      yield { workflowId, history: { events: events.slice(0, index + 1) } };
    }
  }
  // The next prefix is chosen when the result of the one before is known.
  for await (const { error } of Worker.runReplayHistories(replay, prefixes())) {
    if (error) bad = tried;
    else good = tried;
  }
  return tasks[good]?.[1];
}
