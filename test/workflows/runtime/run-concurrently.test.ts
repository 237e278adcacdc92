// Steps that need not wait for each other: so many at a time, results in order, and none left open when one of them fails.
import { expect, test } from "vitest";
import { proxyActivities } from "@temporalio/workflow";
import { runConcurrently } from "../../../src/workflows/runtime/run-concurrently.js";
import { WorkflowRun } from "../workflow-run.js";

interface Activities {
  upload(index: number): Promise<string>;
}

const start = (count: number, atOnce: number) =>
  WorkflowRun.start(() => {
    const { upload } = proxyActivities<Activities>({ startToCloseTimeout: "1 minute" });
    return runConcurrently(
      Array.from({ length: count }, (_, index) => () => upload(index)),
      atOnce,
    );
  });

test("so many run at a time, and the results keep the order of the steps", async () => {
  const run = await start(4, 2);
  expect(run.open.map(({ input }) => input)).toEqual([0, 1]);
  await run.open[1]!.answer("b");
  expect(run.open.map(({ input }) => input)).toEqual([0, 2]);
  await run.open[1]!.answer("c");
  await run.open[1]!.answer("d");
  await run.open[0]!.answer("a");
  expect(run.result).toEqual(["a", "b", "c", "d"]);
});

test("when one fails, the others are cancelled and no further one begins", async () => {
  const run = await start(4, 2);
  const [one, other] = run.open;
  await one!.fail({});
  expect(other?.isCancelled).toBe(true);
  expect([run.open, run.calls.length]).toEqual([[], 2]);
  expect(run.failure).toBeDefined();
});
