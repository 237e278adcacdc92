import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ApplicationFailure, WorkflowFailedError } from "@temporalio/client";
import proto from "@temporalio/proto";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import { ofFile } from "../../harness/of-file.js";
import { canaryWorker, freshRing, quietTemporal } from "../support.js";

const canary = "Q7XJ2VK9";
const key = randomBytes(32);
const converter = dataConverter(KeyRing.parse(`k1:${key.toString("base64")}`));
const env = ofFile(() => quietTemporal(converter));

async function historyOf(workflowId: string): Promise<string> {
  const history = await env.client.workflow.getHandle(workflowId).fetchHistory();
  const json = JSON.stringify(proto.temporal.api.history.v1.History.fromObject(history).toJSON());
  const decoded = [...json.matchAll(/"([A-Za-z0-9+/]{16,}={0,2})"/g)].map(([, text]) =>
    Buffer.from(text ?? "", "base64"),
  );
  return json + decoded.map((bytes) => bytes.toString("latin1")).join("\n");
}

test("a history shows neither inputs nor results, summaries, memo, messages, causes or stacks", async () => {
  const worker = await canaryWorker(env, converter);
  const common = {
    taskQueue: "canary",
    args: [canary],
    memo: { canary },
    staticSummary: canary,
    staticDetails: canary,
  };
  const failure = await worker.runUntil(async () => {
    const handle = await env.client.workflow.start("carry", { ...common, workflowId: "hidden" });
    await handle.executeUpdate("change", { args: [canary] });
    await handle.signal("tell", canary);
    await handle.result();
    const broken = env.client.workflow.execute("breakDown", { ...common, workflowId: "broken" });
    return broken.then(
      () => undefined,
      (error: unknown) => error,
    );
  });

  // Our own client reads the failure, cause and details included.
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  const cause = (failure as WorkflowFailedError).cause as ApplicationFailure;
  expect(cause).toMatchObject({
    message: `ended by ${canary}`,
    type: "BrokenDown",
    details: [canary],
  });
  expect(cause.cause?.cause).toBeInstanceOf(ApplicationFailure);
  expect(cause.cause?.cause).toMatchObject({ message: `failed with ${canary}`, type: "TypeError" });

  for (const workflowId of ["hidden", "broken"]) {
    const history = await historyOf(workflowId);
    expect(history).toContain("binary/encrypted");
    expect(history.includes(canary)).toBe(false);
    expect(history.includes("canary.workflows.ts")).toBe(false);
  }
});

test("a worker without the key leaves the workflow waiting, and one with the key goes on", async () => {
  const handle = await env.client.workflow.start("carry", {
    taskQueue: "canary",
    workflowId: "waits",
    args: [canary],
    // The blind worker may take a task to its end with it: how long the server then waits for the answer.
    workflowTaskTimeout: "2s",
  });
  await handle.signal("tell", canary);
  const blind = await canaryWorker(env, dataConverter(freshRing("other")));
  await blind.runUntil(async () => {
    while (!(await historyOf("waits")).includes("EVENT_TYPE_WORKFLOW_TASK_FAILED"))
      await sleep(100);
  });
  expect((await handle.describe()).status.name).toBe("RUNNING");
  const seeing = await canaryWorker(env, converter);
  expect(await seeing.runUntil(handle.result())).toBe(canary);
});
