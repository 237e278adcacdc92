// Every recorded history is replayed with the present workflows, and none with workflows that were changed without care:
// a process that was started by an older release goes on under this one (docs/design.md §4).
import { beforeAll, describe, expect, test } from "@jest/globals";
import { defaultPayloadConverter } from "@temporalio/common";
import protobuf from "@temporalio/proto";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import type { WorkflowBundle } from "@temporalio/worker";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { dataConverter, failureConverterPath } from "../../src/temporal/codec/data-converter.js";
import { allPaths } from "../harness/histories/paths.js";
import { secondPersonPaths } from "../processes/send-message/second-person-paths.js";
import { readRecordings, recordingRing } from "../harness/histories/recordings.js";
import type { Recording } from "../harness/histories/recordings.js";
import { idOf } from "../harness/histories/path-run.js";

const { EventType } = protobuf.temporal.api.enums.v1;
const paths = [...allPaths, secondPersonPaths].flatMap((of) =>
  Object.keys(of.paths).map((id) => idOf({ of, id })),
);
const processes = allPaths.map(({ process: processName }) => processName);
const recordings = processes.flatMap((processName) => [...readRecordings(processName).values()]);

// Those that must fail would fill the screen.
Runtime.install({
  logger: new DefaultLogger("ERROR", () => undefined),
  telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
});

/** What each history met, by workflow id: undefined where it was replayed to its end. */
async function replay(
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

function activitiesIn({ history }: Recording): Set<string> {
  const types = (history.events ?? []).map(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name,
  );
  return new Set(types.filter((type) => type !== undefined && type !== null));
}

describe("the present workflows", () => {
  let met: Map<string, string | undefined>;
  beforeAll(async () => {
    met = await replay(readFileSync("dist/workflow-bundle.js", "utf8"), recordings);
  }, 60_000);

  test("every path has its history, and every history its path", () => {
    expect(recordings.map(({ workflowId }) => workflowId).toSorted()).toEqual(paths.toSorted());
  });

  test.each(recordings.map(({ workflowId }) => workflowId))("replay %s", (workflowId) => {
    expect(met.has(workflowId)).toBe(true);
    expect(met.get(workflowId)).toBeUndefined();
  });
});

test("no recording has a failed workflow task or skipped time", () => {
  for (const { workflowId, history } of recordings) {
    const types = (history.events ?? []).map(({ eventType }) => EventType[eventType ?? 0]);
    const bad = types.filter((type) =>
      /WORKFLOW_TASK_FAILED|TIME_SKIPPING|UNSPECIFIED/.test(type ?? ""),
    );
    expect([workflowId, bad]).toEqual([workflowId, []]);
  }
});

test("a proposal, and its end, stand in the histories where two operators decide", () => {
  for (const id of Object.keys(secondPersonPaths.paths)) {
    const own = recordings.find(({ workflowId }) => workflowId === `sendMessage/${id}`);
    const changes = own?.history.events?.filter(
      ({ workflowPropertiesModifiedEventAttributes: modified }) => modified,
    );
    expect([id, changes?.length]).toEqual([id, 2]);
  }
});

test("word of surplus that a worker of an earlier release dropped changes nothing", async () => {
  const [recording] = recordings.filter(({ workflowId }) => workflowId === "sendPostal/delivered");
  const told = structuredClone(recording);
  const signal = told?.history.events?.find(
    ({ workflowExecutionSignaledEventAttributes: signaled }) => signaled,
  )?.workflowExecutionSignaledEventAttributes;
  if (!told || !signal) throw new Error("it has heard no callback");
  signal.signalName = "surplus";
  signal.input = { payloads: [defaultPayloadConverter.toPayload({ count: 3 })] };
  const met = await replay(readFileSync("dist/workflow-bundle.js", "utf8"), [told]);
  expect([...met]).toEqual([[told.workflowId, undefined]]);
}, 60_000);

describe.each(allPaths)("$process with one more timer", ({ process: processName, activities }) => {
  const own = recordings.filter(({ workflowId }) => workflowId.startsWith(`${processName}/`));
  let bundle: WorkflowBundle & { code: string };
  const changedBefore = (activity: string) =>
    bundle.code.replaceAll("CHANGED_ACTIVITY", () => activity);

  beforeAll(async () => {
    bundle = await changed();
  }, 60_000);

  test("calls the activities that its paths name, and no others", () => {
    const called = new Set(own.flatMap((recording) => [...activitiesIn(recording)]));
    expect([...called].toSorted()).toEqual(activities.toSorted());
  });

  test("before an activity that is never called it replays everything", async () => {
    const met = await replay(changedBefore("never"), own);
    expect([...met.values()].every((error) => error === undefined)).toBe(true);
  }, 60_000);

  test.each(activities)(
    "before %s it fails on each history that has it, and on no other",
    async (activity) => {
      const having = own.filter((one) => activitiesIn(one).has(activity));
      const met = await replay(changedBefore(activity), own);
      const failed = [...met].filter(([, error]) => error !== undefined);
      expect(failed.map(([workflowId]) => workflowId).toSorted()).toEqual(
        having.map(({ workflowId }) => workflowId).toSorted(),
      );
    },
    60_000,
  );
});

let bundling: Promise<WorkflowBundle & { code: string }> | undefined;

/** Bundled once for all processes. */
function changed() {
  const module = fileURLToPath(new URL("changed.workflows.ts", import.meta.url));
  bundling ??= bundleWorkflowCode({
    workflowsPath: module,
    workflowInterceptorModules: [module],
    failureConverterPath,
    logger: new DefaultLogger("ERROR"),
  });
  return bundling;
}
