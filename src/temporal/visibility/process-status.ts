// The status of a process from what Temporal keeps of it, so that watching asks no worker (docs/decisions/0035).
import { QueryNotRegisteredError, WorkflowFailedError } from "@temporalio/client";
import type { Client, Connection, WorkflowExecutionDescription } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { setTimeout as delay } from "node:timers/promises";
import { queryTooEarly, status as statusQuery } from "../../contracts/shared/messages.js";
import { searchAttributes, splitWorkflowId } from "../../contracts/shared/names.js";
import { shownFailure } from "../../contracts/shared/failures.js";
import type { ProcessResult, ProcessStatus } from "../../contracts/shared/status.js";
import { status } from "../grpc-status.js";
import { statusOf } from "./memo.js";
import { isOpenState } from "./query.js";
import { withoutMemos } from "./without-memos.js";

/** After a query that came too early (decision 15). */
const ASK_AGAIN_MS = 100;
/** Codes of gRPC: the worker stopped during the query, or too many queries waited. */
const interrupted = new Set<unknown>([status.cancelled, status.resourceExhausted]);

export type Description = Pick<
  WorkflowExecutionDescription,
  "workflowId" | "runId" | "status" | "typedSearchAttributes"
> & {
  /** Of a description or of a list. */
  raw: unknown;
};

/** Describes its newest run; the memo is not decoded. */
export function describe(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription> {
  return withoutMemos(client).getHandle(workflowId).describe();
}

/**
 * Undefined where only a worker knows the status, because the memo is not the process's own; and where a completed process has no
 * result. Throws the SDK's error of a process without a memo that Temporal or a stranger has ended.
 */
export async function statusIn(
  client: Client,
  described: Description,
): Promise<ProcessStatus | undefined> {
  const noted = await statusOf(client, described);
  const isOpen = isOpenState(described.status.name);
  if (noted && described.status.name !== "COMPLETED") return noted;
  if (isOpen && !isNew(described)) return undefined;
  const known = noted ?? newStatus(described);
  return isOpen || !known ? known : endedStatus(client, described, known);
}

/** Asks a worker, for the whole timeline; few at once, because each question takes the place of a workflow task. */
export function queryStatus(
  client: Client,
  workflowId: string,
  { runId, mostRefusals = Infinity, full = false }: QueryOptions = {},
): Promise<ProcessStatus> {
  const handle = client.workflow.getHandle(workflowId, runId);
  const query = () => (full ? handle.query(statusQuery, { full }) : handle.query(statusQuery));
  const { callContextStorage: context } = client.connection as Partial<Connection>;
  const hasLeft = () => context?.getStore()?.abortSignal?.aborted ?? false;
  return inTurn(() => answerOf(query, { mostRefusals, hasLeft }));
}

let freePlaces = 4;
const waiting: (() => void)[] = [];

/** Own code, so that the client does not need p-limit for this alone. */
async function inTurn<R>(ask: () => Promise<R>): Promise<R> {
  if (freePlaces > 0) freePlaces -= 1;
  else await new Promise<void>((begin) => waiting.push(begin));
  try {
    return await ask();
  } finally {
    const begin = waiting.shift();
    if (begin) begin();
    else freePlaces += 1;
  }
}

interface QueryOptions {
  runId?: string;
  /** With what the memo never holds. */
  full?: boolean;
  /** How often the query may come too early. No task comes any more for the last events of a process that was terminated. */
  mostRefusals?: number;
}

/** Repeats a query that came too early or was interrupted, within the deadline of the client, until its caller has left. */
async function answerOf(
  query: () => Promise<ProcessStatus>,
  { mostRefusals, hasLeft }: { mostRefusals: number; hasLeft: () => boolean },
): Promise<ProcessStatus> {
  for (let refusals = 0; ;) {
    try {
      return await query();
    } catch (error) {
      const isTooEarly =
        error instanceof QueryNotRegisteredError && error.message.includes(queryTooEarly);
      if (isTooEarly) refusals += 1;
      else if (!isInterrupted(error)) throw error;
      if (refusals >= mostRefusals || hasLeft()) throw error;
      await delay(ASK_AGAIN_MS);
    }
  }
}

function isInterrupted(error: unknown): boolean {
  const { code } = ((error instanceof Error ? error.cause : undefined) ?? {}) as { code?: unknown };
  return interrupted.has(code);
}

/** Before the first answer of an activity. */
function isNew({ typedSearchAttributes: attributes }: Description): boolean {
  const { phase, attention } = searchAttributes;
  return attributes.get(phase) === undefined && attributes.get(attention) === undefined;
}

/** As the process itself shows it before the first answer of an activity. */
function newStatus({
  workflowId,
  typedSearchAttributes: attributes,
}: Description): ProcessStatus | undefined {
  const name = splitWorkflowId(workflowId);
  return (
    name && {
      ...name,
      environment: "unknown",
      account: attributes.get(searchAttributes.account) ?? "default",
      phase: "submitting",
      references: {},
      timeline: [],
    }
  );
}

/** The last memo says what the result or the failure does not. */
async function endedStatus(
  client: Client,
  { workflowId, runId }: Description,
  known: ProcessStatus,
): Promise<ProcessStatus | undefined> {
  const run = client.workflow.getHandle(workflowId, runId, { followRuns: false });
  try {
    const result = (await run.result()) as Partial<ProcessResult> | undefined;
    return Array.isArray(result?.timeline)
      ? completedStatus(known, result as ProcessResult)
      : undefined;
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure)) throw error;
    return { ...known, phase: "ended", failure: shownFailure(cause) };
  }
}

/** The entry of the newest query names the provider's last state. */
function completedStatus(known: ProcessStatus, result: ProcessResult): ProcessStatus {
  const {
    waitingFor: _for,
    until: _until,
    code: _code,
    attention: _attention,
    moreAttentions: _more,
    reportedState: _reported,
    earlierEntries: _earlier,
    ...kept
  } = known;
  const { outcome, references, timeline } = result;
  const state = timeline.findLast(({ source }) => source === "query")?.event ?? known.state;
  return {
    ...kept,
    phase: "ended",
    ...(state !== undefined && { state }),
    outcome,
    references,
    timeline,
  };
}
