// Stuck processes as `trustflow doctor` and the parts below it see them, on a dev server with a worker that fails.
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import type { WorkflowBundle } from "@temporalio/worker";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { repairStuck } from "../../../../src/cleanup/repair.js";
import { findings } from "../../../../src/cli/doctor/findings.js";
import type { FindingName } from "../../../../src/cli/doctor/findings.js";
import { candidatesQuery, inspect } from "../../../../src/temporal/visibility/stuck.js";
import type { Stuck } from "../../../../src/temporal/visibility/stuck.js";
import { watchStuck } from "../../../../src/temporal/visibility/stuck-watch.js";
import { testTemporal, untilFirstTask } from "../../../temporal/support.js";
import type { TestTemporal } from "../../../temporal/support.js";
import { eventually } from "../../../harness/outages/wait.js";
import { doctor } from "../../../cli/doctor/doctor.js";

const workflowId = "sendPostal/failing";
let env: TestTemporal;
let bundle: WorkflowBundle & { code: string };
let worker: Worker;
let running: Promise<void>;

beforeAll(async () => {
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
  });
  env = await testTemporal();
  bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(
      new URL("../../../temporal/failing.workflows.ts", import.meta.url),
    ),
    logger: new DefaultLogger("ERROR"),
  });
  worker = await Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    taskQueue: "failing",
    workflowBundle: bundle,
  });
  running = worker.run();
  await env.client.workflow.start("sendPostal", { workflowId, taskQueue: "failing" });
  // A repair needs a task that was completed before the first signal.
  await untilFirstTask(handle());
}, 120_000);
afterAll(async () => {
  worker?.shutdown();
  await running;
  await env?.teardown();
}, 60_000);

const where = () => ({ connection: env.connection, namespace: env.namespace });
const handle = () => env.client.workflow.getHandle(workflowId);
const seen = async (): Promise<Stuck | undefined> =>
  (await inspect(where(), { workflowId }))?.stuck;

async function untilStuck(): Promise<Stuck> {
  return eventually("it is stuck", async () => {
    // Each signal makes the server try at once.
    await handle().signal("anything");
    await delay(1_000);
    return seen();
  });
}

async function runs(): Promise<number> {
  let found = 0;
  const query = `WorkflowId = "${workflowId}"`;
  for await (const _ of env.client.workflow.list({ query })) found += 1;
  return found;
}

/** How many processes the clean-up and the doctor look at: those that a server from 1.30 on has marked, or all. */
async function marked(): Promise<number> {
  return (await env.client.workflow.count(await candidatesQuery(where()))).count;
}

async function expectFinding(finding: FindingName, detail: string): Promise<void> {
  const { checks } = await doctor({
    TEMPORAL_ADDRESS: env.address,
    TEMPORAL_NAMESPACE: env.namespace,
  });
  const check = "stuck processes";
  expect(checks.find((one) => one.check === check)).toEqual({
    check,
    finding,
    ...findings[finding],
    detail,
  });
}

test("a process that fails is stuck at the third failure, and not before", async () => {
  expect(await seen()).toBeUndefined();
  await handle().signal("anything");
  await delay(1_500);
  expect(await seen()).toBeUndefined();
  const stuck = await untilStuck();
  expect(stuck).toMatchObject({ cause: "WORKFLOW_WORKER_UNHANDLED_FAILURE" });
  expect(stuck.failures).toBeGreaterThanOrEqual(3);
  await eventually("the server has marked it", async () => {
    await handle().signal("anything");
    await delay(1_000);
    return (await marked()) > 0;
  });
  await expectFinding("processesStuck", `1, such as ${workflowId}`);
}, 60_000);

test("of two clean-ups that have found it the slower one leaves it alone: one reset, which the history shows", async () => {
  const cleanUp = (ready: () => Promise<unknown>, mayReset = true) =>
    repairStuck({
      ...{ client: env.client, withoutRetries: env.connection, afterSeconds: 0 },
      mayReset: () => Promise.resolve(mayReset),
      replay: async () => {
        await ready();
        return { workflowBundle: bundle };
      },
    });
  expect(await cleanUp(() => Promise.resolve(), false)).toEqual({
    repaired: [],
    left: [{ id: workflowId, why: "another clean-up repairs now" }],
  });
  expect(await runs()).toBe(1);
  let fast: ReturnType<typeof cleanUp> | undefined;
  // It has found the process, and goes on when the other one has reset it.
  const slow = cleanUp(() => (fast = cleanUp(() => Promise.resolve())));
  expect(await slow).toEqual({ repaired: [], left: [] });
  expect(await fast).toEqual({ repaired: [workflowId], left: [] });
  await delay(2_000);
  expect(await runs()).toBe(2);
  const { repairedAt, since } = await untilStuck();
  expect(repairedAt).toBeDefined();
  expect(Date.parse(since)).toBeGreaterThanOrEqual(Date.parse(repairedAt ?? ""));
  await expectFinding("repairFailed", `1, such as ${workflowId}, which a repair did not fix`);
  const watch = watchStuck(where(), 60_000);
  await eventually("it is counted", () => watch.counts());
  expect(watch.counts()).toEqual({ no: 0, once: 1 });
  await watch.close();
  const again = await repairStuck({
    ...{ client: env.client, withoutRetries: env.connection, afterSeconds: 0 },
    mayReset: () => Promise.resolve(true),
    replay: () => Promise.reject(new Error("nothing is replayed")),
  });
  expect(again).toEqual({
    repaired: [],
    left: [{ id: workflowId, why: "still stuck after one repair" }],
  });
}, 60_000);
