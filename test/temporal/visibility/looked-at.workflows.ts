// A process as a look meets it.
import {
  ApplicationFailure,
  condition,
  defineSignal,
  setHandler,
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
