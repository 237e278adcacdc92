// A process as a look meets it, and a parent that starts it as `serveNotice` starts its children.
import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  condition,
  defineSignal,
  ParentClosePolicy,
  setHandler,
  startChild,
  upsertMemo,
  workflowInfo,
} from "@temporalio/workflow";
import { splitWorkflowId, statusMemo } from "../../../src/contracts/shared/names.js";

const go = defineSignal<[how: string]>("go");

export async function sendNotice(input: { subject: string }): Promise<object> {
  let how: string | undefined;
  setHandler(go, (given) => {
    how = given;
  });
  const name = splitWorkflowId(workflowInfo().workflowId);
  const shown = { phase: "tracking", state: "Sent", references: {}, timeline: [] };
  upsertMemo({ [statusMemo]: { ...name, ...shown, waitingFor: input.subject } });
  await condition(() => how !== undefined);
  if (how === "completed") return { outcome: "read" };
  throw ApplicationFailure.nonRetryable("said", how ?? "", {
    fields: [{ path: "subject", problem: "is too long" }],
    provider: "evi-notice",
    effect: "none",
  });
}

export async function parent(workflowId: string): Promise<string> {
  let isOver = false;
  setHandler(go, () => {
    isOver = true;
  });
  try {
    await startChild("sendNotice", {
      workflowId,
      args: [{ subject: "s" }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
    });
  } catch (error) {
    return (error as Error).name;
  }
  await condition(() => isOver);
  return "started";
}
