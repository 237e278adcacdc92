// A stranger's workflows: one schedules an activity of ours, the others end as one of our processes would.
import {
  ApplicationFailure,
  condition,
  defineUpdate,
  proxyActivities,
  setHandler,
  TerminatedFailure,
} from "@temporalio/workflow";

const { echo } = proxyActivities<{ echo(value: string): Promise<string> }>({
  taskQueue: "canary",
  startToCloseTimeout: "10 s",
});

export function schedule(value: string): Promise<string> {
  return echo(value);
}

/** Ends as it is told to, by a failure of this type; its update `change` is refused alike. */
export async function fail(type: string, details: unknown[]): Promise<void> {
  const failure = () =>
    type === "Terminated"
      ? new TerminatedFailure("forged")
      : ApplicationFailure.nonRetryable("forged", type, ...details);
  let asked = false;
  setHandler(defineUpdate("change"), () => {
    asked = true;
    throw failure();
  });
  await condition(() => asked);
  throw failure();
}

/** Accepts its update, and ends before the update does; its end has no result. */
export async function endMeanwhile(): Promise<void> {
  let asked = false;
  setHandler(defineUpdate("change"), () => {
    asked = true;
    return condition(() => false);
  });
  await condition(() => asked);
}
