// As much of Temporal as the clean-up asks for: what it knows of each process, what its list shows of them, their inputs.
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { KeyRing } from "../../../src/crypto/key-ring.js";
import { EncryptionCodec } from "../../../src/temporal/codec/codec.js";

export interface KnownProcess {
  workflowId: string;
  /** Else closed. */
  running: boolean;
  input?: unknown;
  startedAt?: Date;
  endedAt?: Date;
}

export const knownNamespace = () => ({
  historyDays: 90,
  processes: [] as KnownProcess[],
  /** What its list shows; it breaks off after its first page. */
  list: "whole" as "whole" | "empty" | "breaks off",
  historiesFail: false,
  /** Processes that were described, and those whose inputs were read. */
  described: [] as string[],
  read: [] as string[],
  /** How often its list was read. */
  lists: 0,
});
export type KnownNamespace = ReturnType<typeof knownNamespace>;

const {
  WORKFLOW_EXECUTION_STATUS_RUNNING: RUNNING,
  WORKFLOW_EXECUTION_STATUS_COMPLETED: COMPLETED,
} = proto.temporal.api.enums.v1.WorkflowExecutionStatus;
const notFound = (what: string) => Object.assign(new Error(`${what} not found`), { code: 5 });

export function clientOf(
  namespaces: Record<string, KnownNamespace>,
  ring: KeyRing,
): (namespace: string) => Client {
  const known = (namespace: string) => {
    const found = namespaces[namespace];
    if (!found) throw notFound(`namespace ${namespace}`);
    return found;
  };
  const workflowService = {
    async describeNamespace({ namespace }: Request) {
      const seconds = known(namespace).historyDays * 86_400;
      return { config: { workflowExecutionRetentionTtl: { seconds } } };
    },
    async describeWorkflowExecution({ namespace, execution: { workflowId } }: Request) {
      const { processes, described } = known(namespace);
      described.push(workflowId);
      const found = processes.find((one) => one.workflowId === workflowId);
      if (!found) throw notFound("workflow");
      const { running, endedAt = new Date() } = found;
      const closeTime = { seconds: endedAt.getTime() / 1_000 };
      return {
        workflowExecutionInfo: running ? { status: RUNNING } : { status: COMPLETED, closeTime },
      };
    },
    async listWorkflowExecutions({ namespace, query, nextPageToken }: Request) {
      const { list, ...rest } = known(namespace);
      const processes = rest.processes.filter(
        ({ running }) => running || query.includes("CloseTime"),
      );
      if (!nextPageToken) known(namespace).lists += 1;
      if (nextPageToken && list === "breaks off") throw new Error("the list broke off");
      // One on the first page, the others on the second.
      const page = nextPageToken ? processes.slice(1) : processes.slice(0, 1);
      const executions = page.map(({ workflowId, startedAt }) => ({
        execution: { workflowId, runId: `run of ${workflowId}` },
        ...(startedAt && { startTime: { seconds: startedAt.getTime() / 1_000 } }),
      }));
      return {
        executions: list === "empty" ? [] : executions,
        ...(!nextPageToken && { nextPageToken: Buffer.from("2") }),
      };
    },
    async getWorkflowExecutionHistory({ namespace, execution: { workflowId } }: Request) {
      const { processes, historiesFail, read } = known(namespace);
      read.push(workflowId);
      if (historiesFail) throw new Error("the history cannot be read");
      const found = processes.find((one) => one.workflowId === workflowId);
      const data = Buffer.from(JSON.stringify(found?.input ?? {}));
      const payloads = await new EncryptionCodec(ring).encode([
        { metadata: { encoding: Buffer.from("json/plain") }, data },
      ]);
      const workflowExecutionStartedEventAttributes = { input: { payloads } };
      return { history: { events: [{ workflowExecutionStartedEventAttributes }] } };
    },
  };
  return (namespace) =>
    ({
      options: { namespace },
      connection: { workflowService },
      workflowService,
    }) as unknown as Client;
}

interface Request {
  namespace: string;
  execution: { workflowId: string };
  query: string;
  nextPageToken?: Uint8Array;
}
