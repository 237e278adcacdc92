// The status of a batch has what its open activity has read since the process learned of it (P2 §2.8).
import { beforeAll, expect, test } from "vitest";
import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { Worker } from "@temporalio/worker";
import { asActivity, NotChangedYet } from "../../src/activities/runtime/failure.js";
import { handles } from "../../src/client/processes.js";
import { newestReadIn, withNewestRead } from "../../src/client/newest-read.js";
import type { SendNoticeBatchStatus } from "../../src/contracts/send-notice-batch/contract.js";
import { openCallsIn } from "../../src/temporal/visibility/open-calls.js";
import { dataConverter, workerConverters } from "../../src/temporal/codec/data-converter.js";
import { ofFile } from "../harness/of-file.js";
import { clientIn, freshRing, quietTemporal, testBundle } from "../temporal/support.js";

const ring = freshRing();
const env = ofFile(quietTemporal);
let client: Client;
beforeAll(() => {
  client = clientIn(env, dataConverter(ring, undefined, true));
});

const first = { at: "2026-01-01T00:00:00.000Z", sentCount: 4_000 };
const later = { at: "2026-01-01T00:00:30.000Z", sentCount: 5_000, progressPercentage: 5 };
const known = {
  ...{ process: "sendNoticeBatch", id: "june", references: {}, timeline: [] },
  ...{ phase: "tracking", progress: first },
} as unknown as SendNoticeBatchStatus;

test("what an attempt has read without an answer is in the next status, and costs no event", async () => {
  const context = {
    ...{ provider: "evi-notice", operation: "getBatch", environment: "sandbox" },
    ...{ account: "default", mode: "quick" as const, patienceMs: 1, unavailableForMs: 1 },
    invisibleForMs: 1,
  };
  const followBatch = () =>
    asActivity(context, () => Promise.reject(new NotChangedYet({ progress: later })));
  const { workflows } = workerConverters({ ring, writeRing: undefined }, []);
  const worker = await Worker.create({
    connection: env.nativeConnection,
    namespace: env.namespace,
    taskQueue: "batches",
    dataConverter: workflows,
    workflowBundle: await testBundle(),
    activities: { followBatch },
  });
  await worker.runUntil(async () => {
    const workflowId = "sendNoticeBatch/june";
    const options = { taskQueue: "batches", workflowId, args: [known] };
    const started = await client.workflow.start("sendNoticeBatch", options);
    const handle = new handles.sendNoticeBatch(client, "sendNoticeBatch", "june");
    const shown = async () => ((await handle.status()) as SendNoticeBatchStatus).progress;
    let progress = await shown();
    expect([undefined, first, later]).toContainEqual(progress);
    while (progress?.at !== later.at) progress = await shown();
    expect(progress).toEqual(later);
    const { historyLength } = await started.describe();
    expect(historyLength).toBe(6);
    await started.terminate();
  });
}, 60_000);

async function callsWith(left: unknown, isEncrypted = true) {
  const plain = [defaultPayloadConverter.toPayload(left)];
  const [codec] = client.options.loadedDataConverter.payloadCodecs;
  const payloads = isEncrypted ? await codec!.encode(plain) : plain;
  const pendingActivities = [{}, { heartbeatDetails: { payloads } }];
  return openCallsIn(client, { raw: { pendingActivities } });
}

test.each([
  ["a read", { members: { progress: later } }, true, { progress: later }],
  ["a read that nobody encrypted", { members: { progress: later } }, false, {}],
  ["something else", { awayMs: 1 }, true, {}],
  ["a read that is none", { members: { progress: { at: "now" } } }, true, {}],
])("of a heartbeat with %s", async (_, left, isEncrypted, read) => {
  expect(newestReadIn(await callsWith(left, isEncrypted))).toEqual(read);
});

test("without an open activity nothing was read", async () => {
  expect(newestReadIn(await openCallsIn(client, { raw: {} }))).toEqual({});
});

test("an earlier read, or one of a process that has ended, changes no status", () => {
  const totals = { at: later.at, states: { read: 1 } };
  const ahead = { ...known, progress: later } as SendNoticeBatchStatus;
  expect(withNewestRead(ahead, { progress: first })).toEqual(ahead);
  expect(withNewestRead(known, { totals })).toEqual({ ...known, totals });
  const ended = { ...known, phase: "ended" } as SendNoticeBatchStatus;
  expect(withNewestRead(ended, { progress: later })).toEqual(ended);
});
