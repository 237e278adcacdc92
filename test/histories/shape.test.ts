// The shape of a history against docs/design.md §12: at most 17 + 5 for each delivered group + 3 events, 8 + groups actions. Only
// the workflow decides it, so its activities answer at once and its callbacks are signalled directly.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WorkflowHandle } from "@temporalio/client";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { buildId, providerTaskQueue, workflowTaskQueue } from "../../src/contracts/shared/names.js";
import type { ProviderEvent } from "../../src/contracts/shared/provider-event.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { dataConverter } from "../../src/temporal/codec/data-converter.js";
import { registerSearchAttributes } from "../../src/temporal/visibility/search-attributes.js";
import { readRecordings } from "../harness/histories/recordings.js";
import { shapeOf } from "../harness/histories/shape.js";
import type { Shape } from "../harness/histories/shape.js";
import { testBundle, testTemporal } from "../temporal/support.js";
import type { TestTemporal } from "../temporal/support.js";
import { letterInput } from "../processes/send-postal/inputs.js";

const spans = {
  affidavitWindowSeconds: 0,
  deadlineSeconds: 86_400,
  pollIntervalSeconds: 21_600,
  askIntervalSeconds: 60,
  restingGraceSeconds: 60,
};
const converter = dataConverter(KeyRing.parse(generateKeyRing()));
let env: TestTemporal;
let workers: Worker[];
let running: Promise<void[]>;

/** The providers, as far as a history shows them: each takes what it is sent; a letter is closed at the first question. */
const post = {
  submit: async (given?: { input: { settings?: object } }) => ({
    uniqueId: randomUUID(),
    environment: "sandbox",
    account: "default",
    settings: { ...spans, ...given?.input.settings },
    postServiceType: "Registered",
    affidavitsOnDemand: false,
    document: { uri: "document:0", sha256: "0", size: 1, mediaType: "application/pdf" },
    submittedAt: new Date().toISOString(),
  }),
  ask: async () => ({
    snapshot: {
      stamp: new Date().toISOString(),
      state: "Closed",
      outcome: "Delivered",
      dates: {},
      fingerprint: "Closed",
    },
    documents: [],
    missing: 0,
  }),
};

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await testTemporal(converter);
  await registerSearchAttributes(env.connection, env.namespace);
  const shared = {
    connection: env.nativeConnection,
    namespace: env.namespace,
    dataConverter: converter,
  };
  const floor = await testBundle();
  workers = await Promise.all([
    Worker.create({
      ...shared,
      taskQueue: workflowTaskQueue,
      workflowBundle: { codePath: "dist/workflow-bundle.js" },
      buildId,
    }),
    Worker.create({ ...shared, taskQueue: "floor", workflowBundle: floor }),
    Worker.create({ ...shared, taskQueue: providerTaskQueue("evi-post"), activities: post }),
  ]);
  running = Promise.all(workers.map((worker) => worker.run()));
}, 120_000);

afterAll(async () => {
  for (const worker of workers ?? []) worker.shutdown();
  await running;
  await env?.teardown();
}, 60_000);

function eventNumber(number: number, of: number): ProviderEvent {
  const kind = number === of - 1 ? "Closed" : "Sent";
  return { id: randomUUID(), kind, at: new Date(number).toISOString() };
}

async function runAndMeasure(
  workflow: string,
  taskQueue: string,
  groups: ProviderEvent[][],
  settings: object = {},
): Promise<Shape> {
  const input = letterInput("shape", "delivered", { settings });
  const handle = await env.client.workflow.start(workflow, {
    workflowId: `sendPostal/${randomUUID()}`,
    taskQueue,
    args: [input],
  });
  await processed(handle, 10);
  for (const group of groups) {
    await handle.signal("providerEvents", group);
    // The next group comes after the process has dealt with this one, as late as callbacks do.
    await processed(handle, 4);
  }
  await handle.result();
  return shapeOf(await handle.fetchHistory());
}

const lengths = new WeakMap<WorkflowHandle, number>();

/** Waits until so many events more are in the history, or the process has ended. */
async function processed(handle: WorkflowHandle, more: number): Promise<void> {
  const wanted = (lengths.get(handle) ?? 0) + more;
  for (;;) {
    const { historyLength, status } = await handle.describe();
    if (historyLength >= wanted || status.name !== "RUNNING") {
      lengths.set(handle, historyLength);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const inOneGroup = (count: number) => [
  Array.from({ length: count }, (_, number) => eventNumber(number, count)),
];
const oneByOne = (count: number) =>
  Array.from({ length: count }, (_, number) => [eventNumber(number, count)]);

test("the floor with its five signals has 8 actions and 17 + 4 for each signal, counted as ours are", async () => {
  const { events, actions } = await runAndMeasure("floor", "floor", oneByOne(5));
  expect(actions).toBe(8);
  expect(events).toBe(17 + 4 * 5);
});

describe("sendPostal", () => {
  test.each([
    ["in one group", inOneGroup(50)],
    ["one by one", oneByOne(50)],
  ])(
    "50 callbacks %s stay within the goal",
    async (_name, groups) => {
      const shape = await runAndMeasure("sendPostal", workflowTaskQueue, groups);
      expect(shape.groups).toBe(groups.length);
      expect(shape.events).toBeLessThanOrEqual(17 + 5 * shape.groups + 3);
      expect(shape.actions).toBeLessThanOrEqual(8 + shape.groups);
    },
    60_000,
  );

  test("0 callbacks: the silence that ends stands for the one group", async () => {
    const shape = await runAndMeasure("sendPostal", workflowTaskQueue, [], {
      pollIntervalSeconds: 1,
    });
    expect(shape.groups).toBe(0);
    expect(shape.events).toBeLessThanOrEqual(17 + 4 + 6);
    expect(shape.actions).toBeLessThanOrEqual(8);
  }, 60_000);
});

const oneUpdate = {
  WORKFLOW_EXECUTION_UPDATE_ACCEPTED: 1,
  WORKFLOW_EXECUTION_UPDATE_COMPLETED: 1,
};

/** Every workflow task has these three events, and so has every activity. */
const threeOf = (kind: string, count: number) => ({
  [`${kind}_SCHEDULED`]: count,
  [`${kind}_STARTED`]: count,
  [`${kind}_COMPLETED`]: count,
});

// Each activity needs the answer of the one before it, and documents are uploaded side by side. The replay of a recording shows that the
// present workflow makes its events (test/replay).
describe("the plain way of", () => {
  test.each<[path: string, title: string, size: [events: number, actions: number], object]>([
    // The attributes are set when the certificate exists, so that its id can be searched for even while its code cannot be sent, when the
    // holder's deadline is known, and at the end. A task for each answer, one for the start and one for the holder's code.
    [
      "issueCertificate/issued",
      "five activities, one timer, one code, three times attributes",
      [47, 11],
      {
        ...threeOf("WORKFLOW_TASK", 7),
        ...threeOf("ACTIVITY_TASK", 5),
        ...{ TIMER_STARTED: 1, ...oneUpdate },
        ...{ UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: 3, WORKFLOW_PROPERTIES_MODIFIED: 3 },
      },
    ],
    // The attributes are set when the certificate request exists, when the files do, and at the end, so that each host's ids can be
    // searched for.
    [
      "signEnvelope/sent",
      "an activity for each of two documents beside its three, three times attributes, three memos",
      [38, 9],
      {
        ...threeOf("WORKFLOW_TASK", 5),
        ...threeOf("ACTIVITY_TASK", 5),
        ...{ UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: 3, WORKFLOW_PROPERTIES_MODIFIED: 3 },
      },
    ],
    // The attributes are set when the request exists, so that its id can be searched for, when the signer's deadline is known, and at the
    // end. A task for each answer, one for the start and one for the signer's code.
    [
      "signOneShot/signed",
      "an activity for each of two documents beside its six, one timer, one code, three times attributes",
      [70, 14],
      {
        ...threeOf("WORKFLOW_TASK", 10),
        ...threeOf("ACTIVITY_TASK", 8),
        ...{ TIMER_STARTED: 1, TIMER_CANCELED: 1, ...oneUpdate },
        ...{ UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: 3, WORKFLOW_PROPERTIES_MODIFIED: 7 },
      },
    ],
    // The least that a process with an effect can have. The attributes are set once, because with the answer it has ended.
    [
      "sendMessage/accepted",
      "one activity between two tasks, attributes once, one memo",
      [13, 3],
      {
        ...threeOf("WORKFLOW_TASK", 2),
        ...threeOf("ACTIVITY_TASK", 1),
        ...{ UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: 1, WORKFLOW_PROPERTIES_MODIFIED: 1 },
      },
    ],
  ])("%s: %s", (path, _, size, kinds) => {
    const [name = ""] = path.split("/");
    const recording = readRecordings(name).find(({ workflowId }) => workflowId === path);
    const { events, actions, kinds: found } = shapeOf(recording!.history);
    expect([events, actions]).toEqual(size);
    const always = { WORKFLOW_EXECUTION_STARTED: 1, WORKFLOW_EXECUTION_COMPLETED: 1 };
    expect(found).toEqual({ ...always, ...kinds });
  });
});
