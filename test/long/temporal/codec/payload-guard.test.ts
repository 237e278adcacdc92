// What a client without the key may not do, and that the worker's policy may change under running processes (decision 22).
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import type { DataConverter, Payload, PayloadCodec } from "@temporalio/common";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { notEncrypted, notTagged } from "../../../../src/contracts/shared/payload-marks.js";
import type { PayloadProblem } from "../../../../src/contracts/shared/payload-marks.js";
import { activityGuard } from "../../../../src/temporal/codec/activity-guard.js";
import { EncryptionCodec } from "../../../../src/temporal/codec/codec.js";
import {
  dataConverter,
  failureConverterPath,
  workerConverters,
} from "../../../../src/temporal/codec/data-converter.js";
import { bundled } from "../../../harness/stack/bundles.js";
import { freshRing, testBundle, testTemporal } from "../../../temporal/support.js";
import type { TestTemporal } from "../../../temporal/support.js";

const ring = freshRing();
const writeRing = freshRing("w1");
const refuse: PayloadProblem[] = ["plaintext", "unreadable", "forged"];
const refuseUntagged: PayloadProblem[] = [...refuse, "untagged"];
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
let env: TestTemporal;
let workflowBundle: Awaited<ReturnType<typeof bundled>>;
let ours: Client;
let withoutKey: Client;
let withAnotherKey: Client;

beforeAll(async () => {
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { forward: {} } },
  });
  env = await testTemporal(dataConverter(ring));
  workflowBundle = await bundled("guarded-canary", {
    workflowsPath: file("../../../temporal/canary.workflows.ts"),
    workflowInterceptorModules: [file("../../../../src/workflows/runtime/payload-guard.ts")],
  });
  ours = env.client;
  withoutKey = clientWriting(async (payloads) => payloads);
  const another = new EncryptionCodec(freshRing("k1"));
  withAnotherKey = clientWriting((payloads) => another.encode(payloads));
}, 120_000);
afterAll(() => env?.teardown());

function clientWith(converter: DataConverter): Client {
  const { connection, namespace } = env;
  return new Client({ connection, namespace, dataConverter: converter });
}

/** It reads what the workers answer, so that a test sees it. */
function clientWriting(encode: PayloadCodec["encode"]): Client {
  const decode = (payloads: Payload[]) => new EncryptionCodec(ring).decode(payloads);
  return clientWith({ payloadCodecs: [{ encode, decode }] });
}

/** A worker for workflows and one for activities, as src/worker.ts composes them. */
async function under<T>(refused: PayloadProblem[], work: () => Promise<T>): Promise<T> {
  const { workflows, activities } = workerConverters({ ring, writeRing }, refused);
  const on = { connection: env.nativeConnection, namespace: env.namespace, taskQueue: "canary" };
  const calls = await Worker.create({
    ...on,
    dataConverter: activities,
    activities: { echo: async (value: string) => value },
    interceptors: { activity: [activityGuard] },
  });
  const worker = await Worker.create({ ...on, dataConverter: workflows, workflowBundle });
  return calls.runUntil(() => worker.runUntil(work));
}

const start = (client: Client, ...args: unknown[]) =>
  client.workflow.start("carry", { taskQueue: "canary", workflowId: randomUUID(), args });

async function taskCompletedAfter(handle: WorkflowHandle, signals: number): Promise<void> {
  for (;;) {
    const { events = [] } = await handle.fetchHistory();
    const types = (events ?? []).map((event) =>
      event.workflowExecutionSignaledEventAttributes
        ? "signal"
        : event.workflowTaskCompletedEventAttributes
          ? "completed"
          : "",
    );
    const last = types.flatMap((type, index) => (type === "signal" ? [index] : []))[signals - 1];
    if (last !== undefined && types.indexOf("completed", last) > 0) return;
    await delay(50);
  }
}

test.each([
  ["without a key", () => withoutKey],
  ["with a key of the same name", () => withAnotherKey],
])(
  "%s a start and a query fail, and say why, a signal is dropped, an update is refused, and the process goes on",
  async (_, client) => {
    await under(refuse, async () => {
      await expect((await start(client(), "x")).result()).rejects.toMatchObject({
        cause: { type: "InvalidInput", message: `Invalid input: (input): ${notEncrypted}` },
      });
      const handle = await start(ours, "genuine");
      const stranger = client().workflow.getHandle(handle.workflowId);
      const refused = { cause: { type: "InvalidInput" } };
      await expect(stranger.executeUpdate("change", { args: ["x"] })).rejects.toMatchObject(
        refused,
      );
      await expect(stranger.query("ask", "x")).rejects.toThrow(notEncrypted);
      await stranger.signal("tell", "x");
      await stranger.signal("tell", "y");
      await taskCompletedAfter(handle, 2);
      expect((await handle.describe()).status.name).toBe("RUNNING");
      expect(await handle.executeUpdate("change", { args: ["to this"] })).toBe("to this");
      expect(await handle.query("ask")).toBe("genuine");
      await handle.signal("tell", "z");
      expect(await handle.result()).toBe("genuine");
    });
  },
  60_000,
);

test("what was accepted, and what was refused, stays so after each change of the policy", async () => {
  const handle = await under([], () => start(withoutKey, "accepted"));
  const { workflowId } = handle;
  await under([], async () => {
    expect(await handle.executeUpdate("change", { args: ["once"] })).toBe("once");
    await handle.signal("unheard of", "x");
    await taskCompletedAfter(handle, 1);
  });
  await under(refuse, async () => {
    await handle.signal("tell", "x");
    await taskCompletedAfter(handle, 2);
    expect((await handle.describe()).status.name).toBe("RUNNING");
  });
  // What was refused once by a run is refused by it from there on.
  await under([], async () => {
    await handle.signal("tell", "x");
    await taskCompletedAfter(handle, 3);
    expect((await handle.describe()).status.name).toBe("RUNNING");
    await ours.workflow.getHandle(workflowId).signal("tell", "x");
    expect(await ours.workflow.getHandle(workflowId).result()).toBe("accepted");
  });
  const history = await handle.fetchHistory();
  for (const refused of [[], refuse, refuseUntagged]) {
    const { workflows } = workerConverters({ ring, writeRing }, refused);
    await Worker.runReplayHistory({ workflowBundle, dataConverter: workflows }, history);
  }
}, 90_000);

test("one who can only read starts nothing and changes nothing, also with payloads that they copy", async () => {
  const codec = new EncryptionCodec(ring);
  const reader = clientWriting((payloads) => codec.encode(payloads));
  const writer = clientWith(dataConverter(ring, writeRing));
  const refused = { cause: { type: "InvalidInput", message: expect.stringContaining(notTagged) } };
  await under(refuseUntagged, async () => {
    await expect((await start(reader, "x")).result()).rejects.toMatchObject(refused);
    const handle = await start(writer, "genuine");
    const { events } = await handle.fetchHistory();
    const copied = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const copier = clientWriting(async () => copied);
    await expect((await start(copier, "x")).result()).rejects.toMatchObject(refused);
    const read = reader.workflow.getHandle(handle.workflowId);
    expect(await read.query("ask")).toBe("genuine");
    const update = read.executeUpdate("change", { args: ["x"] });
    await expect(update).rejects.toMatchObject(refused);
    // The refusal stands in clear, its details do not: a client that refuses plaintext believes it.
    const untagging = clientWith(dataConverter(ring, undefined, true)).workflow;
    const told = untagging.getHandle(handle.workflowId).executeUpdate("change", { args: ["x"] });
    await expect(told).rejects.toMatchObject(refused);
    await read.signal("tell", "x");
    await taskCompletedAfter(handle, 1);
    expect(await handle.executeUpdate("change", { args: ["to this"] })).toBe("to this");
    await handle.signal("tell", "x");
    expect(await handle.result()).toBe("genuine");
  });
}, 60_000);

test("an earlier payload without a tag stays accepted when tags become required", async () => {
  const handle = await under(refuse, () => start(ours, "earlier"));
  await under(refuse, async () => {
    expect(await handle.executeUpdate("change", { args: ["once"] })).toBe("once");
  });
  await under(refuseUntagged, async () => {
    await handle.signal("tell", "x");
    await taskCompletedAfter(handle, 1);
    expect(await handle.query("ask")).toBe("earlier");
    const writer = clientWith(dataConverter(ring, writeRing));
    await writer.workflow.getHandle(handle.workflowId).signal("tell", "x");
    expect(await handle.result()).toBe("earlier");
  });
}, 60_000);

test("an activity that a stranger's workflow schedules is not run", async () => {
  await under(refuse, async () => {
    const strangers = await Worker.create({
      connection: env.nativeConnection,
      namespace: env.namespace,
      taskQueue: "strangers",
      workflowBundle: await testBundle(),
    });
    await strangers.runUntil(async () => {
      const handle = await withoutKey.workflow.start("schedule", {
        taskQueue: "strangers",
        workflowId: randomUUID(),
        args: ["canary"],
      });
      const failureOf = async () => {
        const { events } = await handle.fetchHistory();
        return events?.map((one) => one.activityTaskFailedEventAttributes).find(Boolean)?.failure;
      };
      while (!(await failureOf())) await delay(50);
      const { applicationFailureInfo: info } = (await failureOf()) ?? {};
      expect(info).toMatchObject({ type: "NotEncrypted", nonRetryable: true });
      await handle.terminate();
    });
  });
}, 60_000);

test.each<[string, (value: string) => Promise<string>]>([
  ["result", async (value) => value],
  ["failure", () => Promise.reject(new Error("junk"))],
])(
  "an activity's %s that its key does not open is refused, and holds up nothing",
  async (_, echo) => {
    const on = { connection: env.nativeConnection, namespace: env.namespace, taskQueue: "canary" };
    const [forging, reading] = [new EncryptionCodec(freshRing("k1")), new EncryptionCodec(ring)];
    const junk: PayloadCodec = {
      encode: (payloads) => forging.encode(payloads),
      decode: (payloads) => reading.decode(payloads),
    };
    const strangers = { failureConverterPath, payloadCodecs: [junk] };
    const calls = await Worker.create({ ...on, dataConverter: strangers, activities: { echo } });
    const { workflows } = workerConverters({ ring, writeRing }, refuse);
    const worker = await Worker.create({ ...on, dataConverter: workflows, workflowBundle });
    await calls.runUntil(() =>
      worker.runUntil(async () => {
        const handle = await start(ours, "genuine");
        await handle.signal("tell", "x");
        await expect(handle.result()).rejects.toMatchObject({
          cause: { cause: { type: "NotEncrypted" } },
        });
        const history = await handle.fetchHistory();
        await Worker.runReplayHistory({ workflowBundle, dataConverter: workflows }, history);
      }),
    );
  },
  30_000,
);

test("the failure converter shows in clear what the guard says", () => {
  const { failureConverter } = createRequire(import.meta.url)(failureConverterPath) as {
    failureConverter: { errorToFailure(error: unknown, converter: object): { message: string } };
  };
  const names = ["(input)", "(argument)"];
  for (const said of names.flatMap((name) => [
    `${name}: ${notEncrypted}`,
    `${name}: ${notTagged}`,
  ])) {
    const message = `Invalid input: ${said}`;
    expect(failureConverter.errorToFailure(new Error(message), {}).message).toBe(message);
  }
});
