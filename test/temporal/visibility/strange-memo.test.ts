// A memo, a signal and the details of a termination that cannot be decoded, by a stranger on one of our ids, break no list, no description
// and no erasure (decision 22).
import { expect, test } from "vitest";
import type { Payload } from "@temporalio/common";
import { defineUpdate } from "@temporalio/workflow";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { namedDocuments } from "../../../src/cleanup/erase.js";
import { FinishedError } from "../../../src/errors/index.js";
import { ProcessHandle } from "../../../src/client/handle.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import { runsOf } from "../../../src/temporal/visibility/runs.js";
import { ofFile } from "../../harness/of-file.js";
import { clientIn, freshRing, quietTemporal } from "../support.js";

const ring = freshRing();
const uri = `document:${"0".repeat(32)}`;
const stamped = {
  metadata: {
    encoding: Buffer.from("binary/encrypted"),
    "encryption-key-id": Buffer.from("of a stranger"),
  },
};
const env = ofFile(quietTemporal);
const encode = async (payloads: Payload[]) =>
  payloads.map((payload) => {
    const isOpen = Buffer.from(payload.data ?? []).includes(uri);
    return isOpen ? payload : { ...stamped, data: Buffer.from("junk") };
  });
const strange = { payloadCodecs: [{ encode, decode: async (payloads: Payload[]) => payloads }] };

class TestHandle extends ProcessHandle<unknown> {
  change(): Promise<unknown> {
    return this.update(defineUpdate("change"), [], randomUUID());
  }
}

test.each([false, true])(
  "such a process is described, listed for its erasure, and its history is read (plaintext refused: %s)",
  async (refusesPlaintext) => {
    const client = clientIn(env, dataConverter(ring, undefined, refusesPlaintext));
    const handle = new TestHandle(client, "sendMessage", randomUUID());
    const { workflowId } = handle;
    const started = await clientIn(env, strange).workflow.start("any", {
      workflowId,
      taskQueue: "a queue of nobody",
      args: [uri],
      memo: { anything: "junk" },
    });
    expect(await handle.isOpen()).toBe(true);
    await started.signal("anything", "junk");
    await env.connection.workflowService.terminateWorkflowExecution({
      ...{ namespace: env.namespace, workflowExecution: { workflowId } },
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
