// The status of a process from what Temporal keeps of it, so that watching asks no worker (docs/decisions/0035).
import { QueryNotRegisteredError } from "@temporalio/client";
import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import pLimit from "p-limit";
import { setTimeout as delay } from "node:timers/promises";
import { queryTooEarly, status as statusQuery } from "../../contracts/shared/messages.js";
import { searchAttributes, splitWorkflowId } from "../../contracts/shared/names.js";
import type { ProcessResult, ProcessStatus } from "../../contracts/shared/status.js";
import { statusOf } from "./memo.js";
import { withoutMemos } from "./without-memos.js";

/** After a query that came too early (decision 15). */
const ASK_AGAIN_MS = 100;
/** Codes of gRPC: the worker stopped during the query, or too many queries waited. */
const interrupted = new Set<unknown>([1, 8]);

export type Description = Pick<
  WorkflowExecutionDescription,
  "workflowId" | "runId" | "status" | "typedSearchAttributes" | "raw"
>;

/** The newest run of a process; its memo is not decoded. */
export function describe(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription> {
  return withoutMemos(client).getHandle(workflowId).describe();
}

/** Undefined where only a worker knows the status: a process of an earlier release has no memo. */
export async function statusIn(
  client: Client,
  described: Description,
): Promise<ProcessStatus | undefined> {
  const { workflowId, runId, typedSearchAttributes: attributes } = described;
  const noted = await statusOf(client, described);
  if (described.status.name === "COMPLETED" && noted) {
    const run = client.workflow.getHandle(workflowId, runId, { followRuns: false });
    return endedStatus(noted, (await run.result()) as ProcessResult);
  }
  if (noted) return noted;
  const { phase, attention } = searchAttributes;
  const isNew = attributes.get(phase) === undefined && attributes.get(attention) === undefined;
  return isNew && described.status.name === "RUNNING" ? newStatus(workflowId) : undefined;
}

/** Asks a worker, for the whole timeline; few at once, because each question takes the place of a workflow task. */
export const queryStatus = limited((client: Client, workflowId: string, runId?: string) =>
  answerOf(() => client.workflow.getHandle(workflowId, runId).query(statusQuery)),
);

function limited<A extends unknown[], R>(call: (...args: A) => Promise<R>) {
  const atMost = pLimit(4);
  return (...args: A): Promise<R> => atMost(() => call(...args));
}

/** Repeats a query that came too early or was interrupted, within the deadline of the client. */
async function answerOf(query: () => Promise<ProcessStatus>): Promise<ProcessStatus> {
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (!isTooEarly(error) && !isInterrupted(error)) throw error;
      await delay(ASK_AGAIN_MS);
    }
  }
}

function isTooEarly(error: unknown): boolean {
  return error instanceof QueryNotRegisteredError && error.message.includes(queryTooEarly);
}

function isInterrupted(error: unknown): boolean {
  const { code } = ((error instanceof Error ? error.cause : undefined) ?? {}) as { code?: unknown };
  return interrupted.has(code);
}

/** Before the first answer of an activity, as the process itself would show it. */
function newStatus(workflowId: string): ProcessStatus | undefined {
  const name = splitWorkflowId(workflowId);
  return (
    name && {
      ...name,
      environment: "unknown",
      account: "default",
      phase: "submitting",
      references: {},
      timeline: [],
    }
  );
}

/** The last memo says what the result does not; the entry of the newest query names the provider's last state. */
function endedStatus(noted: ProcessStatus, result: ProcessResult): ProcessStatus {
  const {
    waitingFor: _for,
    until: _until,
    attention: _attention,
    moreAttentions: _more,
    reportedState: _reported,
    earlierEntries: _earlier,
    ...kept
  } = noted;
  const { outcome, references, timeline } = result;
  const state = timeline.findLast(({ source }) => source === "query")?.event ?? noted.state;
  return {
    ...kept,
    phase: "ended",
    ...(state !== undefined && { state }),
    outcome,
    references,
    timeline,
  };
}
