// A process as a client meets it: with or without a memo, open or ended.
import {
  ApplicationFailure,
  condition,
  defineQuery,
  setHandler,
  upsertMemo,
  workflowInfo,
} from "@temporalio/workflow";
import { splitWorkflowId, statusMemo } from "../../src/contracts/shared/names.js";

export interface Shown {
  memo?: object;
  /** What the query answers. */
  queried?: object;
  /** What it answers more where it is asked for the full status. */
  full?: object;
  /** The words of the query's failure, and how often it fails; forever by default. */
  refusal?: string;
  refusals?: number;
  end?: { result?: object } | { type: string; details: unknown[] };
}

export async function sendPostal({ memo, queried, refusal, ...shown }: Shown): Promise<unknown> {
  const { refusals = Infinity, end, full } = shown;
  const name = splitWorkflowId(workflowInfo().workflowId);
  const of = (status: object) => ({ ...name, phase: "tracking", references: {}, ...status });
  let count = 0;
  setHandler(defineQuery<object, [{ full?: boolean }?]>("status"), (asked) => {
    count += 1;
    if (refusal !== undefined && count <= refusals) throw new Error(refusal);
    return of({ timeline: [], ...queried, ...(asked?.full && full) });
  });
  if (memo) upsertMemo({ [statusMemo]: of({ timeline: [], ...memo }) });
  if (!end) await condition(() => false);
  if (end && "type" in end) throw ApplicationFailure.nonRetryable("said", end.type, ...end.details);
  return end?.result;
}
