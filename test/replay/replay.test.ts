// Every recorded history is replayed with the present workflows: a process that was started by an older release goes on
// under this one (docs/design.md §4).
import { beforeAll, describe, expect, test } from "vitest";
import protobuf from "@temporalio/proto";
import { readFileSync } from "node:fs";
import { activitiesByQueue } from "../../src/activities/queues.js";
import { createLookActivities } from "../../src/activities/runtime/look.js";
import { createProcessActivities } from "../../src/activities/runtime/process.js";
import {
  proposalsMemo,
  providerTaskQueue,
  workflowTaskQueue,
} from "../../src/contracts/shared/names.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { allPaths } from "../harness/histories/paths.js";
import { readRecordings, recordingRing } from "../harness/histories/recordings.js";
import { activitiesIn, replay } from "../harness/histories/replaying.js";
import { idOf } from "../harness/histories/path-run.js";
import { secondPersonPaths } from "../processes/send-message/second-person-paths.js";

const ring = KeyRing.parse(recordingRing);
const { EventType } = protobuf.temporal.api.enums.v1;
const paths = [...allPaths, secondPersonPaths].flatMap((of) =>
  Object.keys(of.paths).map((id) => idOf({ of, id })),
);
const processes = allPaths.map(({ process: processName }) => processName);
const bundle = readFileSync("dist/workflow-bundle.js", "utf8");
const recordings = processes.flatMap(readRecordings);

test("every path has its history, and every history its path", () => {
  const recorded = recordings.map(({ workflowId }) => workflowId);
  expect(recorded.toSorted()).toEqual(paths.toSorted());
});

describe("the present workflows", () => {
  let met: Awaited<ReturnType<typeof replay>>;
  beforeAll(async () => {
    met = await replay(bundle, ring, recordings);
  }, 300_000);

  test.each(recordings.map(({ workflowId }) => workflowId))("replay %s", (workflowId) => {
    expect(met.has(workflowId)).toBe(true);
    expect(met.get(workflowId)).toBeUndefined();
  });
});

test("a history with another activity than the workflow's does not replay", async () => {
  const own = recordings.find(({ workflowId }) => workflowId === "sendMessage/accepted");
  const { events = [] } = own!.history;
  const changed = events!.map((event) => {
    const { activityTaskScheduledEventAttributes: scheduled } = event;
    const other = { ...scheduled, activityType: { name: "other" } };
    return scheduled ? { ...event, activityTaskScheduledEventAttributes: other } : event;
  });
  const met = await replay(bundle, ring, [
    { ...own!, history: { ...own!.history, events: changed } },
  ]);
  expect(met.get("sendMessage/accepted")?.message).toContain("TMPRL1100");
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
      ({ workflowPropertiesModifiedEventAttributes: modified }) =>
        modified?.upsertedMemo?.fields?.[proposalsMemo],
    );
    expect([id, changes?.length]).toEqual([id, 2]);
  }
});

test("the recordings call every activity that a worker has, and no others", () => {
  const none = {} as never;
  const ofProviders = Object.entries(activitiesByQueue(() => none, none));
  const own = { ...createProcessActivities(none, none), ...createLookActivities(none, none) };
  const served = [
    ...Object.keys(own).map((name) => `${workflowTaskQueue} ${name}`),
    ...ofProviders.flatMap(([provider, activities]) =>
      Object.keys(activities).map((name) => `${providerTaskQueue(provider)} ${name}`),
    ),
  ];
  // An update waits for it: it is called at the queue of single notices.
  const elsewhere = `${providerTaskQueue("evi-notice-batch")} requestBatchAffidavit`;
  const called = new Set([...recordings.flatMap(activitiesIn), elsewhere]);
  expect([...called].toSorted()).toEqual(served.toSorted());
});
