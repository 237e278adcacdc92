// A stranger's workflow, which schedules an activity of ours.
import { proxyActivities } from "@temporalio/workflow";

const { echo } = proxyActivities<{ echo(value: string): Promise<string> }>({
  taskQueue: "canary",
  startToCloseTimeout: "10 s",
});

export function schedule(value: string): Promise<string> {
  return echo(value);
}
