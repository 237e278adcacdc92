// A memo, a signal and the details of a termination that cannot be decoded, by a stranger on one of our ids, break no list, no description
// and no erasure (decision 22).
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { defineUpdate } from "@temporalio/workflow";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { namedDocuments } from "../../../src/cleanup/erase.js";
import { FinishedError } from "../../../src/errors/index.js";
import { ProcessHandle } from "../../../src/client/handle.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import { runsOf } from "../../../src/temporal/visibility/runs.js";
import { freshRing, testTemporal } from "../support.js";
import type { TestTemporal } from "../support.js";

const ring = freshRing();
const uri = `document:${"0".repeat(32)}`;
const stamped = {
  metadata: {
    encoding: Buffer.from("binary/encrypted"),
    "encryption-key-id": Buffer.from("of a stranger"),
  },
};
let env: TestTemporal;
let stranger: Client;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await testTemporal();
  const { connection, namespace } = env;
  const encode = async (payloads: Payload[]) =>
    payloads.map((payload) => {
      const isOpen = Buffer.from(payload.data ?? []).includes(uri);
      return isOpen ? payload : { ...stamped, data: Buffer.from("junk") };
    });
  const decode = async (payloads: Payload[]) => payloads;
  stranger = new Client({
    connection,
    namespace,
    dataConverter: { payloadCodecs: [{ encode, decode }] },
  });
}, 120_000);
afterAll(() => env?.teardown());

class TestHandle extends ProcessHandle<unknown> {
  change(): Promise<unknown> {
    return this.update(defineUpdate("change"), [], randomUUID());
  }
}

test.each([false, true])(
  "such a process is described, listed for its erasure, and its history is read (plaintext refused: %s)",
  async (refusesPlaintext) => {
    const converter = dataConverter(ring, undefined, refusesPlaintext);
    const { connection, namespace } = env;
    const client = new Client({ connection, namespace, dataConverter: converter });
    const handle = new TestHandle(client, "sendMessage", randomUUID());
    const { workflowId } = handle;
    const started = await stranger.workflow.start("any", {
      workflowId,
      taskQueue: "a queue of nobody",
      args: [uri],
      memo: { anything: "junk" },
    });
    expect(await handle.isOpen()).toBe(true);
    await started.signal("anything", "junk");
    await env.connection.workflowService.terminateWorkflowExecution({
      ...{ namespace, workflowExecution: { workflowId } },
      details: { payloads: [{ ...stamped, data: Buffer.from("junk") }] },
    });
    expect(await handle.isOpen()).toBe(false);
    await expect(handle.change()).rejects.toThrow(FinishedError);
    const runIds = [started.firstExecutionRunId];
    const isListed = async () => {
      const { count } = await client.workflow.count(`WorkflowId = "${workflowId}"`);
      return count === 1;
    };
    while (!(await isListed())) await delay(50);
    expect(await runsOf(client, workflowId)).toEqual({ isOpen: false, runIds, references: [] });
    const named = await namedDocuments(client, ring, workflowId, runIds);
    expect([...named]).toEqual(["0".repeat(32)]);
  },
  60_000,
);
