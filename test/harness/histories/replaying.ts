// Replays recorded histories with a bundle of workflows, and with workflows that wait once more before one activity.
import { beforeAll, describe, expect, test } from "@jest/globals";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { dataConverter, failureConverterPath } from "../../../src/temporal/codec/data-converter.js";
import { readRecordings, recordingRing } from "./recordings.js";
import type { Recording } from "./recordings.js";
import type { PathsOf } from "./path-run.js";

// Those that must fail would fill the screen.
Runtime.install({
  logger: new DefaultLogger("ERROR", () => undefined),
  telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
});

/** What each history met, by workflow id: undefined where it was replayed to its end. */
export async function replay(
  code: string,
  replayed: Recording[],
): Promise<Map<string, string | undefined>> {
  const results = Worker.runReplayHistories(
    { workflowBundle: { code }, dataConverter: dataConverter(KeyRing.parse(recordingRing)) },
    replayed,
  );
  const met = new Map<string, string | undefined>();
  for await (const { workflowId, error } of results) met.set(workflowId, error?.name);
  return met;
}

export function activitiesIn({ history }: Recording): Set<string> {
  const types = (history.events ?? []).map(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name,
  );
  return new Set(types.filter((type) => type !== undefined && type !== null));
}

/** Exactly the histories with the activity before which the workflows wait once more must fail, for each activity. */
export function testOneMoreTimer(all: PathsOf[]): void {
  let code: string;
  const changedBefore = (activity: string) => code.replaceAll("CHANGED_ACTIVITY", () => activity);
  const failures = async (met: Promise<Map<string, string | undefined>>) =>
    [...(await met)].flatMap(([id, error]) => (error === undefined ? [] : [id])).toSorted();

  beforeAll(async () => {
    const module = fileURLToPath(new URL("../../replay/changed.workflows.ts", import.meta.url));
    ({ code } = await bundleWorkflowCode({
      workflowsPath: module,
      workflowInterceptorModules: [module],
      failureConverterPath,
      logger: new DefaultLogger("ERROR"),
    }));
  }, 60_000);

  describe.each(all)("$process with one more timer", ({ process: processName, activities }) => {
    const own = [...readRecordings(processName).values()];

    test("before an activity that is never called it replays everything", async () => {
      const met = replay(changedBefore("never"), own);
      expect((await met).size).toBe(own.length);
      expect(await failures(met)).toEqual([]);
    }, 60_000);

    test.each(activities)(
      "before %s it fails on each history that has it, and on no other",
      async (activity) => {
        const having = own.filter((one) => activitiesIn(one).has(activity));
        expect(await failures(replay(changedBefore(activity), own))).toEqual(
          having.map(({ workflowId }) => workflowId).toSorted(),
        );
      },
      60_000,
    );
  });
}
