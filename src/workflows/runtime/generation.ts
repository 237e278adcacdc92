// Which release of the workflow code runs the present workflow task, or ran it when its history was made.
import { patched, workflowInfo } from "@temporalio/workflow";
import { generationOf } from "../../contracts/shared/names.js";

/** Costs no event, as a patch does: Temporal keeps the build id of its worker with each workflow task. */
export function isOfGeneration(least: number): boolean {
  return generationOf(workflowInfo().currentBuildId) >= least;
}

/** True unless an earlier release, which did not know the change, ran this task. Generation 2 knows all changes that have a name. */
export function knows(change: string): boolean {
  return isOfGeneration(2) || patched(change);
}
