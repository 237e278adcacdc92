// Processes as visibility lists them, for tests of what is made of its answers.
import { Client } from "@temporalio/client";
import type { ConnectionLike } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import { msToTs } from "@temporalio/common/lib/time.js";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import { freshRing } from "../support.js";

export const codes = { running: 1, completed: 2, failed: 3, terminated: 5, timedOut: 7 } as const;

export interface Listed {
  id: string;
  runId?: string;
  status: keyof typeof codes;
  startedAt?: Date;
  closedAt?: Date;
  outcome?: string;
  attention?: string;
  memo?: Record<string, Payload>;
  /** The type of its failure. */
  failure?: string;
}

/**
 * `shown` answers each list; it may throw, as a server that is away. `queries` has what was asked for. The history of a process of `faults`
 * cannot be read.
 */
export function clientOf(shown: () => Listed[], converter = dataConverter(freshRing())) {
  const faults = new Set<string>();
  const queries: string[] = [];
  const workflowService = {
    async listWorkflowExecutions({ query }: { query: string }) {
      queries.push(query);
      const isOpen = query.includes('ExecutionStatus = "Running"');
      const after = Date.parse(/CloseTime >= "([^"]+)"/.exec(query)?.[1] ?? "");
      const fits = ({ status, closedAt }: Listed) =>
        (isOpen && status === "running") ||
        (Number.isNaN(after) ? !isOpen : (closedAt?.getTime() ?? 0) >= after);
      return { executions: shown().filter(fits).map(executionOf) };
    },
    async getWorkflowExecutionHistory({ execution }: { execution: { workflowId: string } }) {
      const { id = "", failure } =
        shown().find((one) => execution.workflowId.endsWith(`/${one.id}`)) ?? {};
      if (faults.has(id)) throw new Error(`${id} cannot be read`);
      const applicationFailureInfo = { type: failure };
      const workflowExecutionFailedEventAttributes = { failure: { applicationFailureInfo } };
      return { history: { events: [{ workflowExecutionFailedEventAttributes }] } };
    },
  };
  const withAbortSignal = (_: AbortSignal, call: () => unknown) => call();
  const connection = { workflowService, withAbortSignal, plugins: [] } as unknown as ConnectionLike;
  const client = new Client({ connection, dataConverter: converter });
  return { client, queries, faults };
}

function executionOf({ id, runId = `run of ${id}`, memo, ...listed }: Listed) {
  const { status, startedAt = new Date(1_000), closedAt, outcome, attention } = listed;
  const attributes = { outcome, attention };
  const fields = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [[searchAttributes[name as keyof typeof attributes].name, keyword(value)]],
  );
  return {
    execution: { workflowId: `sendPostal/${id}`, runId },
    type: { name: "sendPostal" },
    status: codes[status],
    historyLength: { toNumber: () => 1 },
    startTime: msToTs(startedAt.getTime()),
    ...(closedAt && { closeTime: msToTs(closedAt.getTime()) }),
    searchAttributes: { indexedFields: Object.fromEntries(fields) },
    ...(memo && { memo: { fields: memo } }),
  };
}

const keyword = (value: string): Payload => ({
  metadata: { encoding: Buffer.from("json/plain"), type: Buffer.from("Keyword") },
  data: Buffer.from(JSON.stringify(value)),
});
