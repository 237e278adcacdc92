// Replays histories with a bundle of workflows.
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import type { KeyRing } from "../../../src/crypto/key-ring.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import type { Recording } from "./recordings.js";

let runtime: Runtime | undefined;

/**
 * What each history met, by workflow id: undefined where it was replayed to its end. Only the end of a worker ends the SDK's runtime,
 * which keeps Node running: so importing this file does not start one.
 */
export async function replay(
  code: string,
  ring: KeyRing,
  replayed: Recording[],
): Promise<Map<string, Error | undefined>> {
  // Histories that do not replay would fill the screen.
  runtime ??= Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
  });
  const results = Worker.runReplayHistories(
    { workflowBundle: { code }, dataConverter: dataConverter(ring) },
    replayed,
  );
  const met = new Map<string, Error | undefined>();
  for await (const { workflowId, error } of results) met.set(workflowId, error);
  return met;
}

/** Each with its task queue. */
export function activitiesIn({ history }: Recording): string[] {
  return (history.events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled ? [`${scheduled.taskQueue?.name} ${scheduled.activityType?.name}`] : [],
  );
}
