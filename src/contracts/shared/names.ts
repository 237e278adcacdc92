// Names that other systems see: task queues, workflow ids, search attributes, memo (docs/design.md §2, §13). Those of the
// processes stand in the registry.
import type { SearchAttributePair } from "@temporalio/common";

export const workflowTaskQueue = "trustflow";

/** Each provider has a queue with its own rate limit, and so have its long calls (docs/design.md §12). */
export function providerTaskQueue(provider: string): string {
  return `${workflowTaskQueue}.${provider}`;
}

export const BUSINESS_ID_LENGTH = 100;

/** A business id stands in URLs, logs and visibility (docs/design.md §2). */
export const businessIdPattern = /^[A-Za-z0-9._-]{1,100}$/;
export const businessIdProblem = "must be 1 to 100 of A-Z a-z 0-9 . _ -";

/** A name that stands in the key of a table of the configuration, such as that of an account. */
export const tableNamePattern = /^[a-z0-9][a-z0-9-]{0,30}$/;

/** One process shows such an id of a provider's, and another one is given it: visibility shows it. */
export const providerIdPattern = /^[\x21-\x7e]{1,200}$/;
/** The same for an id that becomes one segment of a path (RFC 3986, `pchar`), and is not `.` or `..`. */
export const pathIdPattern = /^[A-Za-z0-9_~!$&'()*+,;=:@-][A-Za-z0-9._~!$&'()*+,;=:@-]{0,199}$/;

/** `<process>/<business id>`. */
export function workflowIdOf<P extends string>(processName: P, id: string): `${P}/${string}` {
  return `${processName}/${id}`;
}

/** The two parts of a workflow id, or undefined when it has not this form. Whether there is such a process is not looked at. */
export function splitWorkflowId(workflowId: string): { process: string; id: string } | undefined {
  const slash = workflowId.indexOf("/");
  const id = workflowId.slice(slash + 1);
  return slash > 0 && businessIdPattern.test(id)
    ? { process: workflowId.slice(0, slash), id }
    : undefined;
}

/**
 * Never encrypted, so none carries personal data (docs/design.md §8). Written out, because every command loads this file, and the SDK's
 * function for them would load its protobuf messages with it.
 */
export const searchAttributes = {
  phase: { name: "TrustflowPhase", type: "KEYWORD" },
  outcome: { name: "TrustflowOutcome", type: "KEYWORD" },
  attention: { name: "TrustflowAttention", type: "KEYWORD" },
  account: { name: "TrustflowAccount", type: "KEYWORD" },
  references: { name: "TrustflowReferences", type: "KEYWORD_LIST" },
  deadline: { name: "TrustflowDeadline", type: "DATETIME" },
} as const satisfies Record<string, SearchAttributePair["key"]>;

/** The memo field that holds the status of a process, which is read without a worker (docs/decisions/0035). */
export const statusMemo = "trustflowStatus";

/**
 * Temporal keeps the build id of the worker with each workflow task, so a replay knows which generation of the workflow code made it. A
 * change of the commands that a process makes begins a new generation.
 */
export const GENERATION = 1;
export const buildId = `trustflow-${GENERATION}`;

/** The memo field that holds the decisions that wait for a second operator: a list of `ProposedDecision`. */
export const proposalsMemo = "trustflowProposals";

export interface ProposedDecision {
  attention: string;
  decision: string;
  principal: string;
}

/** The header in which OpenTelemetry's interceptors of Temporal's SDKs pass a trace on. */
export const traceHeader = "_tracer-data";
