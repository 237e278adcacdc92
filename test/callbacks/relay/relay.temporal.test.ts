// Receiver and relay with a real Temporal server: its own answers for open, ended, terminated, unknown and over-large.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { WorkflowClient } from "@temporalio/client";
import { CallbackArchive } from "../../../src/callbacks/inbox/archive.js";
import { startReceiver } from "../../../src/callbacks/receiver/receiver.js";
import { Relay } from "../../../src/callbacks/relay/relay.js";
import type { ProcessSubject } from "../../../src/callbacks/address.js";
import { providerEvents } from "../../../src/contracts/shared/messages.js";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { bodyKeys, parsers, post, ring, sealRing, subjectOf } from "../support.js";
import { ofFile } from "../../harness/of-file.js";
import { until } from "../../harness/outages/wait.js";
import { testTemporal } from "../../temporal/support.js";

const temporal = ofFile(testTemporal);
const database = ofFile(testDatabase);
const archive = ofFile(() => new CallbackArchive(database.pool));
const receiver = ofFile(() => {
  const { pool } = database;
  const given = { pool, ring, sealRing, host: "127.0.0.1", port: 0 };
  return startReceiver({ ...given, maxBodyBytes: 4_000_000 });
});
const relay = ofFile(
  () =>
    new Relay({
      ...{ pool: database.pool, ring, bodyKeys, parsers, clientFor },
      // Long enough for company also on a busy machine.
      gatherMs: 500,
      signalTimeoutMs: 5_000,
    }),
);

const clientFor = (namespace: string) =>
  new WorkflowClient({ connection: temporal.connection, namespace });

const ownSubject = () => subjectOf({ namespace: temporal.namespace });

// The server records signals; no worker has to run the workflow.
async function open(subject = ownSubject()): Promise<ProcessSubject> {
  await temporal.client.workflow.start("anything", {
    workflowId: subject.workflowId,
    taskQueue: randomUUID(),
  });
  return subject;
}

async function signalsOf({ workflowId }: ProcessSubject): Promise<ProviderEvent[][]> {
  const { events } = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
    if (signal?.signalName !== providerEvents.name) return [];
    return [
      JSON.parse(
        Buffer.from(signal.input?.payloads?.[0]?.data ?? []).toString(),
      ) as ProviderEvent[],
    ];
  });
}

const states = async ({ workflowId }: ProcessSubject): Promise<string[]> =>
  (await archive.list({ workflowId })).toReversed().map(({ state, reason }) => reason ?? state);
const become = (subject: ProcessSubject, expected: string[]) =>
  until(async () => JSON.stringify(await states(subject)) === JSON.stringify(expected));

test("ended: late; never existed: parked as unknownProcess; a replay gives both another chance", async () => {
  const [ended, unknown] = [await open(), ownSubject()];
  await temporal.client.workflow.getHandle(ended.workflowId).terminate("test");
  await post(receiver.url, ended, { Identifier: "a" });
  await post(receiver.url, unknown, { Identifier: "a" });
  await become(ended, ["late"]);
  await become(unknown, ["unknownProcess"]);
  for (const subject of [ended, unknown]) {
    await open(subject);
    const [row] = await archive.list({ workflowId: subject.workflowId });
    expect(await archive.replay([row?.id ?? ""])).toEqual([row?.id]);
    await become(subject, ["delivered"]);
    expect(await archive.replay([row?.id ?? ""])).toEqual([]);
  }
});

test("a missing namespace is waited for", async () => {
  const subject = subjectOf({ namespace: "missing" });
  await post(receiver.url, subject, { Identifier: "a" });
  await until(() => relay.health().pausedNamespaces.includes("missing"));
  await become(subject, ["waiting"]);
});

test("an event that Temporal finds too large is parked alone, its neighbours arrive", async () => {
  const subject = await open();
  const note = "x".repeat(2_500_000);
  await Promise.all(["a", "b"].map((Identifier) => post(receiver.url, subject, { Identifier })));
  await post(receiver.url, subject, { Identifier: "large", note });
  await post(receiver.url, subject, { Identifier: "c" });
  await until(
    async () => (await states(subject)).filter((state) => state === "delivered").length === 3,
  );
  await until(async () => (await states(subject)).includes("refusedByTemporal"));
  const arrived = (await signalsOf(subject)).flat().map(({ id }) => id);
  expect(arrived.toSorted()).toEqual(["a", "b", "c"]);
});
