// Workflows that carry a canary wherever data can go, for the tests of what is logged and what is stored.
import {
  ApplicationFailure,
  condition,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from "@temporalio/workflow";
import { defineQuery, defineSignal, defineUpdate } from "@temporalio/workflow";

interface CanaryActivities {
  echo(value: string): Promise<string>;
  fail(value: string): Promise<void>;
}

const quick = { startToCloseTimeout: "10 s" } as const;
const { echo, fail } = proxyActivities<CanaryActivities>({
  ...quick,
  retry: { maximumAttempts: 2, initialInterval: 10 },
});

export async function carry(canary: string): Promise<string> {
  let told = false;
  setHandler(defineSignal<[string]>("tell"), () => {
    told = true;
  });
  setHandler(defineQuery<string>("ask"), () => canary);
  setHandler(defineUpdate<string, [string]>("change"), (value) => value, {
    validator: (value) => {
      if (value.startsWith("refuse"))
        throw ApplicationFailure.nonRetryable(`refused ${value}`, "Refused", value);
    },
  });
  setCurrentDetails(`Details ${canary}`);
  log.info("A line of the workflow", { workflowId: "shown", canary, error: new Error(canary) });
  await condition(() => told);
  return echo.executeWithOptions({ summary: `Echo ${canary}` }, [canary]);
}

export async function breakDown(canary: string): Promise<void> {
  try {
    await fail(canary);
  } catch (error) {
    const cause = error instanceof Error ? error : new Error(canary);
    throw ApplicationFailure.create({
      message: `ended by ${canary}`,
      type: "BrokenDown",
      cause,
      details: [canary],
      nonRetryable: true,
    });
  }
}

export async function stumble(canary: string): Promise<void> {
  throw new Error(`a bug met ${canary}`);
}
