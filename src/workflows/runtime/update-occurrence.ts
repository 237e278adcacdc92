// The occurrence of an update's own effect is made of the update's id, which its caller chooses (docs/design.md §6).
import { currentUpdateInfo } from "@temporalio/workflow";

/** Occurrences of a step that updates have too, where the process itself makes the call. */
export const ownOccurrences = {
  workflowCancellation: "workflow-cancellation",
  afterSubmit: "after-submit",
  notAccepted: "not-accepted",
} as const;

/** No name of ours ends so. */
const SUFFIX = ".update";

/** The id of the running update. One that is a name of ours, or may become one, gets a suffix: no effect passes for another one. */
export function occurrenceOfUpdate(): string {
  const id = currentUpdateInfo()?.id ?? "";
  // A step begins with `0`; after a decision it goes on with `1`, or with `…+1` (src/journal/decisions.ts).
  const isOurs = /^\d*$|\+1$/.test(id) || Object.values<string>(ownOccurrences).includes(id);
  return isOurs || id.endsWith(SUFFIX) ? `${id}${SUFFIX}` : id;
}
