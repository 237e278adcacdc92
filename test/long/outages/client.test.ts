// While Temporal is away a caller who waits goes on waiting until it gives up itself, every other call fails as `UnreachableError`, and
// an update whose outcome is unknown can be repeated as the same update.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client, Connection, WorkflowNotFoundError } from "@temporalio/client";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Trustflow, UnreachableError } from "../../../src/client.js";
import { ProcessHandle } from "../../../src/client/handle.js";
import { loadConfig } from "../../../src/config/config.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import { eventually } from "../../harness/outages/wait.js";
import { bundled } from "../../harness/stack/bundles.js";
import { startHop } from "../../harness/stack/hop.js";
import { freshRing, testTemporal } from "../../temporal/support.js";
import type { TestTemporal } from "../../temporal/support.js";
import { counted, finish, touch } from "./outage.workflows.js";

const ring = freshRing();
let env: TestTemporal;
let client: Client;
let worker: Worker;
let running: Promise<void>;

const clientOn = (connection: Connection) =>
  new Client({ connection, namespace: env.namespace, dataConverter: dataConverter(ring) });

/** A client whose way to the server can be cut. */
async function clientOnItsWay() {
  const way = await startHop([env.address]);
  const connection = await Connection.connect({ address: way.address });
  return {
    ...way,
    client: clientOn(connection),
    async [Symbol.asyncDispose]() {
      await connection.close();
      way.close();
    },
  };
}

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await testTemporal();
  client = clientOn(env.connection);
  worker = await Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    taskQueue: "outage",
    dataConverter: dataConverter(ring),
    workflowBundle: await bundled("outage", {
      workflowsPath: fileURLToPath(new URL("outage.workflows.ts", import.meta.url)),
    }),
  });
  running = worker.run();
}, 120_000);
afterAll(async () => {
  worker?.shutdown();
  await running;
  await env?.teardown();
});

class TestHandle extends ProcessHandle<{ outcome: string }> {
  touch(updateId: string): Promise<number> {
    return this.update(touch, [], updateId);
  }
}

/** A client to which the server says this first of each kind of question. */
function refusedFirst(code: number, details: string) {
  const refusal = Object.assign(new Error(details), { code, details, metadata: new Map() });
  const service = env.connection.workflowService;
  const asked = { describeWorkflowExecution: 0, getWorkflowExecutionHistory: 0 };
  const refusing = (name: keyof typeof asked) => ({
    value: (request: never) => {
      asked[name] += 1;
      return asked[name] === 1 ? Promise.reject(refusal) : service[name](request);
    },
  });
  const workflowService = Object.create(service, {
    describeWorkflowExecution: refusing("describeWorkflowExecution"),
    getWorkflowExecutionHistory: refusing("getWorkflowExecutionHistory"),
  }) as typeof service;
  const connection = Object.create(env.connection, {
    workflowService: { value: workflowService },
  }) as typeof env.connection;
  return { refused: clientOn(connection), asked };
}

async function started(on = client): Promise<TestHandle> {
  const handle = new TestHandle(on, "sendPostal", randomUUID());
  await client.workflow.start("sendPostal", { workflowId: handle.workflowId, taskQueue: "outage" });
  return handle;
}

async function deliver({ workflowId }: TestHandle): Promise<void> {
  await client.workflow.getHandle(workflowId).signal(finish, "delivered");
}

test.each([
  [8, "namespace concurrent poller limit exceeded"],
  [13, "Received RST_STREAM with code 2"],
])("a wait goes on after the code %i of gRPC: %s", async (code, details) => {
  const handle = await started();
  await deliver(handle);
  const { refused, asked } = refusedFirst(code, details);
  expect(await new TestHandle(refused, "sendPostal", handle.id).result()).toMatchObject({
    outcome: "delivered",
  });
  expect(asked.getWorkflowExecutionHistory).toBe(2);
  const other = await started();
  await eventually("its memo", async () => (await other.status()).phase === "tracking");
  const watching = refusedFirst(code, details);
  const seen: unknown[] = [];
  for await (const { phase } of new TestHandle(watching.refused, "sendPostal", other.id).watch()) {
    seen.push(phase);
    if (phase === "tracking") await deliver(other);
  }
  expect(seen).toEqual(["tracking", "ended"]);
  expect(watching.asked.describeWorkflowExecution).toBeGreaterThan(2);
});

test.each([
  [8, "Received message larger than max (5 vs. 4)", "resourceExhausted"],
  [13, "Failed to decode the response", "internal"],
])("a wait ends with the code %i of gRPC: %s", async (code, details, status) => {
  const { id } = await started();
  const { refused, asked } = refusedFirst(code, details);
  const waiting = new TestHandle(refused, "sendPostal", id).result();
  await expect(waiting).rejects.toMatchObject({ code: "temporalRefused", details: { status } });
  expect(asked.getWorkflowExecutionHistory).toBe(1);
});

const watched = async (handle: TestHandle, seen: string[] = []) => {
  for await (const { phase, outcome } of handle.watch()) seen.push(outcome ?? phase);
  return seen;
};

test.each([
  ["result", (handle: TestHandle): Promise<unknown> => handle.result()],
  ["watch", watched],
  ["status", (handle: TestHandle): Promise<unknown> => handle.status()],
  ["an update", (handle: TestHandle) => handle.touch(randomUUID())],
])("%s ends with the reason of its caller's abort, whatever it is", async (name, call) => {
  const handle = new TestHandle(client, "sendPostal", randomUUID());
  const workflow = { workflowId: handle.workflowId, taskQueue: "nobody" };
  await client.workflow.start("sendPostal", workflow);
  for (const signal of [AbortSignal.abort(), AbortSignal.abort(new Error("the user has left"))])
    await expect(client.withAbortSignal(signal, () => call(handle))).rejects.toBe(signal.reason);
  // A status is there at once.
  if (name === "status") return;
  const abort = new AbortController();
  const aborted = client.withAbortSignal(abort.signal, () => call(handle));
  const reason = Object.assign(new Error("the user has left"), { code: 14 });
  setTimeout(() => abort.abort(reason), 200);
  await expect(aborted).rejects.toBe(reason);
  await expect(client.withDeadline(Date.now() + 200, () => call(handle))).rejects.toBeDefined();
});

// An outage is mostly waiting, so each has a client of its own, and they run side by side.
test.concurrent("an update that was cut short before the outage names its id", async () => {
  await using way = await clientOnItsWay();
  const handle = await started(way.client);
  const away = new TestHandle(
    Object.assign(way.client, {
      workflow: {
        getHandle: () => ({
          executeUpdate: async () => {
            way.close();
            throw new WorkflowNotFoundError("it has ended", handle.workflowId, undefined);
          },
        }),
      },
    }),
    "sendPostal",
    handle.id,
  );
  const met = away.touch("u-2");
  await expect(met).rejects.toThrow(UnreachableError);
  await expect(met).rejects.toMatchObject({ updateId: "u-2" });
  await deliver(handle);
}, 60_000);

test.concurrent("a watch outlasts the outage", async () => {
  await using way = await clientOnItsWay();
  const handle = await started(way.client);
  const shown: string[] = [];
  const seen = watched(handle, shown);
  await eventually("the watch shows its memo", () => shown.includes("tracking"));
  way.close();
  await deliver(handle);
  await client.workflow.getHandle(handle.workflowId).result();
  await delay(3_000);
  await way.reopen();
  expect((await seen).slice(-2)).toEqual(["tracking", "delivered"]);
}, 60_000);

test.concurrent("a wait outlasts the outage, other calls say that Temporal is away, and a repeated update happens once", async () => {
  await using way = await clientOnItsWay();
  const handle = await started(way.client);
  const { workflowId } = handle;
  const ended = handle.result();
  const touching = handle.touch("u-1").catch((error: unknown) => error);
  const inside = client.workflow.getHandle(workflowId);
  await eventually("the update", async () => (await inside.query(counted)) === 1);
  way.close();
  const trustflow = Reflect.construct(Trustflow, [
    { connected: { client: way.client }, ring, config: loadConfig() },
  ]) as Trustflow;
  const calls = [
    handle.status(),
    handle.isOpen(),
    trustflow.find(workflowId).then((found) => found.status()),
    trustflow.list()[Symbol.asyncIterator]().next(),
    trustflow.sendMessage(randomUUID(), { providerFields: { to: "+34600000000" } }),
  ];
  const met = await Promise.allSettled(calls);
  for (const call of met)
    expect(call).toMatchObject({ status: "rejected", reason: expect.any(UnreachableError) });
  const unanswered = await touching;
  expect(unanswered).toBeInstanceOf(UnreachableError);
  expect(unanswered).toMatchObject({ updateId: "u-1" });
  expect((unanswered as Error).message).toContain("repeat it with the update id u-1");
  await way.reopen();
  await inside.signal(finish, "touched");
  expect(await handle.touch("u-1")).toBe(1);
  await inside.signal(finish, "delivered");
  expect(await ended).toMatchObject({ outcome: "delivered" });
  expect(await inside.query(counted)).toBe(1);
}, 120_000);
