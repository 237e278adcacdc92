// Every recorded history is replayed with the present workflows: a process that was started by an older release goes on
// under this one (docs/design.md §4).
import { beforeAll, describe, expect, test } from "@jest/globals";
import { defaultPayloadConverter } from "@temporalio/common";
import protobuf from "@temporalio/proto";
import { readFileSync } from "node:fs";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { allPaths } from "../harness/histories/paths.js";
import { generations, readRecordings, recordingRing } from "../harness/histories/recordings.js";
import { activitiesIn, replay } from "../harness/histories/replaying.js";
import { idOf } from "../harness/histories/path-run.js";
import { sendMessagePaths } from "../processes/send-message/paths.js";
import { secondPersonPaths } from "../processes/send-message/second-person-paths.js";
import { testOneMoreTimer } from "./one-more-timer.js";

const ring = KeyRing.parse(recordingRing);
const { EventType } = protobuf.temporal.api.enums.v1;
const paths = [...allPaths, secondPersonPaths].flatMap((of) =>
  Object.keys(of.paths).map((id) => idOf({ of, id })),
);
const processes = allPaths.map(({ process: processName }) => processName);
const recordings = generations.flatMap((generation) =>
  processes.flatMap((name) => readRecordings(name, generation)),
);

test("every path has its history, and every history its path", () => {
  const recorded = new Set(recordings.map(({ workflowId }) => workflowId));
  expect([...recorded].toSorted()).toEqual(paths.toSorted());
});

const kinds = generations.flatMap((generation) =>
  processes
    .map((name) => [name, generation] as const)
    .filter((kind) => readRecordings(...kind).length > 0),
);
describe.each(kinds)("the present workflow of %s, recorded by generation %s", (...kind) => {
  const own = readRecordings(...kind);
  let met: Awaited<ReturnType<typeof replay>>;
  beforeAll(async () => {
    met = await replay(readFileSync("dist/workflow-bundle.js", "utf8"), ring, own);
  }, 60_000);

  test.each(own.map(({ workflowId }) => workflowId))("replay %s", (workflowId) => {
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
  const met = await replay(readFileSync("dist/workflow-bundle.js", "utf8"), ring, [told]);
  expect([...met]).toEqual([[told.workflowId, undefined]]);
}, 60_000);

test.each(allPaths)(
  "$process calls the activities that its paths name, and no others",
  ({ process: processName, activities }) => {
    const own = generations.flatMap((generation) => readRecordings(processName, generation));
    const called = new Set(own.flatMap((one) => [...activitiesIn(one)]));
    expect([...called].toSorted()).toEqual(activities.toSorted());
  },
);

// That the replay finds a change is shown for one process here, and for each in test/long/replay.
testOneMoreTimer([sendMessagePaths]);
