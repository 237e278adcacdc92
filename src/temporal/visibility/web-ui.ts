// The lists of Temporal's Web UI that an operator opens first. A link carries the query and no columns, because the browser keeps those
// (docs/operations/watch.md).
import { searchAttributes } from "../../contracts/shared/names.js";
import { isRunning } from "./query.js";

export const webUiListNames = ["needs a decision", "late", "failed"] as const;

/** The links. Visibility knows no "now", so the list of late processes is as of `at`. */
export function webUiLists(
  webUi: string,
  namespace: string,
  at: Date,
): Record<(typeof webUiListNames)[number], string> {
  const { attention, deadline } = searchAttributes;
  const list = `${webUi}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  const link = (query: string) => `${list}?query=${encodeURIComponent(query)}`;
  return {
    "needs a decision": link(`${attention.name} IS NOT NULL AND ${isRunning}`),
    late: link(`${deadline.name} < "${at.toISOString()}" AND ${isRunning}`),
    failed: link('ExecutionStatus = "Failed"'),
  };
}
