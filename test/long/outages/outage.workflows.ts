// A process that counts its updates, and answers each once it is told to.
import {
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  upsertMemo,
  workflowInfo,
} from "@temporalio/workflow";

import { splitWorkflowId, statusMemo } from "../../../src/contracts/shared/names.js";

export const counted = defineQuery<number>("counted");
export const finish = defineSignal<[what: string]>("finish");
export const touch = defineUpdate<number>("touch");

export async function sendPostal(): Promise<object> {
  let count = 0;
  const told: string[] = [];
  const name = splitWorkflowId(workflowInfo().workflowId);
  upsertMemo({ [statusMemo]: { ...name, phase: "tracking", references: {}, timeline: [] } });
  setHandler(counted, () => count);
  setHandler(finish, (what) => void told.push(what));
  setHandler(touch, async () => {
    count += 1;
    await condition(() => told.includes("touched"));
    return count;
  });
  await condition(() => told.includes("delivered"));
  return { outcome: "delivered", references: {}, timeline: [] };
}
