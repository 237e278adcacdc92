// Counts its updates, and ends after the first.
import { allHandlersFinished, condition, defineUpdate, setHandler } from "@temporalio/workflow";

const count = defineUpdate<number>("count");

export async function counts(): Promise<number> {
  let times = 0;
  setHandler(count, () => ++times);
  await condition(() => times > 0);
  await condition(allHandlersFinished);
  return times;
}
