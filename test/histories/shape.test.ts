// The shape of a history against DESIGN §12: at most 17 + 4 for each delivered group + 6 events, 8 + groups actions. Only
// the workflow decides it, so its activities answer at once and its callbacks are signalled directly.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { WorkflowHandle } from "@temporalio/client";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import {
  providerTaskQueue,
  searchAttributes,
  workflowTaskQueue,
} from "../../src/contracts/names.js";
import type { ProviderEvent } from "../../src/contracts/provider-event.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { findTemporal } from "../../src/local/find-temporal.js";
import { dataConverter } from "../../src/temporal/data-converter.js";
import { shapeOf } from "../support/history-shape.js";
import type { Shape } from "../support/history-shape.js";
import { letterInput } from "../support/letters.js";

const spans = {
  affidavitWindowSeconds: 0,
  deadlineSeconds: 86_400,
  pollIntervalSeconds: 21_600,
  askIntervalSeconds: 60,
  restingGraceSeconds: 60,
};
const converter = dataConverter(KeyRing.parse(generateKeyRing()));
let env: TestWorkflowEnvironment;
let workers: Worker[];
let running: Promise<void[]>;

/** The provider, as far as a history shows it: it takes the letter and says that it is closed. */
const activities = {
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
  }),
};

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  const path = await findTemporal();
  env = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: "existing-path", path },
      log: { format: "json", level: "never" },
      searchAttributes: Object.values(searchAttributes),
    },
    client: { dataConverter: converter },
  });
  const shared = {
    connection: env.nativeConnection,
    namespace: "default",
    dataConverter: converter,
  };
  const floor = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL("floor.workflows.ts", import.meta.url)),
    ...(converter.failureConverterPath && { failureConverterPath: converter.failureConverterPath }),
    logger: new DefaultLogger("ERROR"),
  });
  workers = await Promise.all([
    Worker.create({
      ...shared,
      taskQueue: workflowTaskQueue,
      workflowBundle: { codePath: "dist/workflow-bundle.js" },
    }),
    Worker.create({ ...shared, taskQueue: "floor", workflowBundle: floor }),
    Worker.create({ ...shared, taskQueue: providerTaskQueue("evi-post"), activities }),
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

async function walk(
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
  const { events, actions } = await walk("floor", "floor", oneByOne(5));
  expect(actions).toBe(8);
  expect(events).toBe(17 + 4 * 5);
});

describe("sendPostal", () => {
  const cases: [string, ProviderEvent[][]][] = [
    ["1 callback", oneByOne(1)],
    ["5 callbacks in one group", inOneGroup(5)],
    ["5 callbacks one by one", oneByOne(5)],
    ["50 callbacks in one group", inOneGroup(50)],
    ["50 callbacks one by one", oneByOne(50)],
  ];

  test.each(cases)(
    "%s stay within the goal",
    async (_name, groups) => {
      const shape = await walk("sendPostal", workflowTaskQueue, groups);
      expect(shape.groups).toBe(groups.length);
      expect(shape.events).toBeLessThanOrEqual(17 + 4 * shape.groups + 6);
      expect(shape.actions).toBeLessThanOrEqual(8 + shape.groups);
    },
    60_000,
  );

  test("0 callbacks: the silence that ends stands for the one group", async () => {
    const shape = await walk("sendPostal", workflowTaskQueue, [], { pollIntervalSeconds: 1 });
    expect(shape.groups).toBe(0);
    expect(shape.events).toBeLessThanOrEqual(17 + 4 + 6);
    expect(shape.actions).toBeLessThanOrEqual(8);
  }, 60_000);
});
