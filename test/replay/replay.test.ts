// Every recorded history is replayed with the present workflows, and none with workflows that were changed without care:
// a process that was started by an older release goes on under this one (DESIGN §4).
import { beforeAll, describe, expect, test } from "@jest/globals";
import protobuf from "@temporalio/proto";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import type { WorkflowBundle } from "@temporalio/worker";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { dataConverter, failureConverterPath } from "../../src/temporal/data-converter.js";
import { sendPostalPaths } from "../support/history-paths.js";
import { readRecordings, recordingRing } from "../support/history-recordings.js";
import type { Recording } from "../support/history-recordings.js";

const { EventType } = protobuf.temporal.api.enums.v1;
const { process: name, paths } = sendPostalPaths;
const recordings = readRecordings(name);

// Those that must fail would fill the screen.
Runtime.install({
  logger: new DefaultLogger("ERROR", () => undefined),
  telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
});

/** What each history met: undefined where it was replayed to its end. */
async function replay(code: string): Promise<Map<string, string | undefined>> {
  const histories = async function* () {
    for (const { workflowId, history } of recordings.values()) yield { workflowId, history };
  };
  const results = Worker.runReplayHistories(
    { workflowBundle: { code }, dataConverter: dataConverter(KeyRing.parse(recordingRing)) },
    histories(),
  );
  const met = new Map<string, string | undefined>();
  for await (const { workflowId, error } of results) {
    met.set(workflowId.slice(name.length + 1), error?.name);
  }
  return met;
}

function activitiesIn({ history }: Recording): Set<string> {
  const types = (history.events ?? []).map(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name,
  );
  return new Set(types.filter((type) => type !== undefined && type !== null));
}

describe("the present workflows", () => {
  let met: Map<string, string | undefined>;
  beforeAll(async () => {
    met = await replay(readFileSync("dist/workflow-bundle.js", "utf8"));
  }, 60_000);

  test("every path has its history, and every history its path", () => {
    expect([...recordings.keys()].toSorted()).toEqual(Object.keys(paths).toSorted());
  });

  test.each([...recordings.keys()])("replay %s", (path) => {
    expect(met.has(path)).toBe(true);
    expect(met.get(path)).toBeUndefined();
  });
});

test("no recording has a failed workflow task or skipped time", () => {
  for (const [path, { history }] of recordings) {
    const types = (history.events ?? []).map(({ eventType }) => EventType[eventType ?? 0]);
    expect([
      path,
      types.filter((type) => /WORKFLOW_TASK_FAILED|TIME_SKIPPING|UNSPECIFIED/.test(type ?? "")),
    ]).toEqual([path, []]);
  }
});

describe("workflows with one more timer", () => {
  const activities = ["submit", "ask", "cancel", "requestAffidavit", "decide", "withdraw"];
  let bundle: WorkflowBundle & { code: string };
  const changedBefore = (activity: string) =>
    bundle.code.replaceAll("CHANGED_ACTIVITY", () => activity);

  beforeAll(async () => {
    const module = fileURLToPath(new URL("changed.workflows.ts", import.meta.url));
    bundle = await bundleWorkflowCode({
      workflowsPath: module,
      workflowInterceptorModules: [module],
      failureConverterPath,
      logger: new DefaultLogger("ERROR"),
    });
  }, 60_000);

  test("before an activity that is never called they replay everything", async () => {
    const met = await replay(changedBefore("never"));
    expect([...met.values()].every((error) => error === undefined)).toBe(true);
  }, 60_000);

  test.each(activities)(
    "before %s they fail on each history that has it, and on no other",
    async (activity) => {
      const having = [...recordings].filter(([, one]) => activitiesIn(one).has(activity));
      expect(having.length).toBeGreaterThan(0);
      const met = await replay(changedBefore(activity));
      const failed = [...met].filter(([, error]) => error !== undefined);
      expect(failed.map(([path]) => path).toSorted()).toEqual(
        having.map(([path]) => path).toSorted(),
      );
    },
    60_000,
  );
});
