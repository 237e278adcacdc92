// What the histories tell after a storm of restarts: failed workflow tasks, what does not replay, and how long processes waited.
import protobuf from "@temporalio/proto";
import { Worker } from "@temporalio/worker";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import type { Restart } from "./storm.js";
import type { TestStack } from "../stack/stack.js";

const { EventType, WorkflowTaskFailedCause } = protobuf.temporal.api.enums.v1;
type History = protobuf.temporal.api.history.v1.IHistory;

export interface Examined {
  failedTasks: string[];
  /** Workflow tasks that the SDK gave back and got again whole, because its memory was behind the server (decision 15). */
  behind: number;
  corrupt: string[];
  /** By signal: seconds from the restart, or from the event, to the start of the first workflow task of a process after it. */
  resumed: Record<string, { tasks: number; p50: number; p99: number }>;
}

const CONCURRENT_FETCHES = 10;

export async function examine(
  system: TestStack,
  workflowIds: readonly string[],
  restarts: readonly Restart[],
): Promise<Examined> {
  const histories: { workflowId: string; history: History }[] = [];
  const ids = workflowIds.values();
  const fetcher = async () => {
    for (const workflowId of ids) {
      const handle = system.client.temporal.workflow.getHandle(workflowId);
      histories.push({ workflowId, history: await handle.fetchHistory() });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_FETCHES }, fetcher));
  const waited: Record<string, number[]> = {};
  for (const { history } of histories) {
    for (const [signal, seconds] of waitsIn(history, restarts))
      (waited[signal] ??= []).push(seconds);
  }
  const failures = histories.flatMap(({ workflowId, history }) =>
    failuresIn(history).map((failure) => `${workflowId}: ${failure}`),
  );
  const failedTasks = failures.filter((failure) => !failure.includes("History is out of order"));
  return {
    failedTasks,
    behind: failures.length - failedTasks.length,
    corrupt: await corruptOf(system, histories),
    resumed: Object.fromEntries(
      Object.entries(waited).map(([signal, seconds]) => [signal, quantiles(seconds)]),
    ),
  };
}

/**
 * Not those of the server: a process that ends while an event comes is asked again, with the event (`UnhandledCommand`).
 */
function failuresIn({ events }: History): string[] {
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed && failed.cause !== WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
      ? [`${WorkflowTaskFailedCause[failed.cause ?? 0]} ${failed.failure?.message ?? ""}`]
      : [],
  );
}

async function corruptOf(
  { stack }: TestStack,
  histories: { workflowId: string; history: History }[],
): Promise<string[]> {
  const code = await readFile(join("dist", "workflow-bundle.js"), "utf8");
  const ring = KeyRing.parse(stack.env["TRUSTFLOW_KEYS__CODEC"] ?? "");
  const replayed = Worker.runReplayHistories(
    { workflowBundle: { code }, dataConverter: dataConverter(ring) },
    histories,
  );
  const corrupt: string[] = [];
  for await (const { workflowId, error } of replayed)
    if (error) corrupt.push(`${workflowId}: ${error.message}`);
  return corrupt;
}

/** The first workflow task after each restart, where it started before the next one. */
function waitsIn({ events }: History, restarts: readonly Restart[]): [string, number][] {
  const tasks: { scheduledAt: number; startedAt: number }[] = [];
  let scheduledAt: number | undefined;
  let startedAt = 0;
  for (const { eventType, eventTime } of events ?? []) {
    const at = Number(eventTime?.seconds) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
    if (eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED) scheduledAt ??= at;
    if (eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED) startedAt = at;
    if (eventType !== EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) continue;
    tasks.push({ scheduledAt: scheduledAt ?? at, startedAt });
    scheduledAt = undefined;
  }
  return restarts.flatMap(({ signal, at, readyAt }, index) => {
    const next = restarts[index + 1]?.at ?? Infinity;
    const first = tasks.find((task) => task.scheduledAt > at && task.scheduledAt < next);
    if (!first || first.startedAt > next) return [];
    const from = Math.max(first.scheduledAt, readyAt);
    return [[signal, Math.max(0, first.startedAt - from) / 1_000]];
  });
}

function quantiles(values: number[]) {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2));
  return { tasks: sorted.length, p50: at(0.5), p99: at(0.99) };
}
