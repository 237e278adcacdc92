// Who reaches Temporal without a key starts nothing, decides nothing, and ends nothing as they like (decision 22).
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client, Connection } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import type { Payload } from "@temporalio/common";
import { fileURLToPath } from "node:url";
import { UnprovenAnswerError } from "../../../src/client.js";
import { notEncrypted, notTagged } from "../../../src/contracts/shared/payload-marks.js";
import { commandLine } from "../../cli/in-process.js";
import { eventually } from "../../harness/outages/wait.js";
import { pageCodec } from "../../harness/pages/any-language.js";
import { codeFor, holderInput } from "../../processes/issue-certificate/inputs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const messageFile = fileURLToPath(new URL("../../../examples/message.json", import.meta.url));
let system: TestStack;
let connection: Connection;
let stranger: Client;

beforeAll(async () => {
  system = await startTestStack({
    sandboxSpeed: "auto",
    env: { TRUSTFLOW_CODEC__PLAINTEXT: "refuse" },
  });
  const { TEMPORAL_ADDRESS: address = "", TRUSTFLOW_KEYS__CODEC: ring = "" } = system.stack.env;
  connection = await Connection.connect({ address });
  // It reads with the key, so that the test sees what it is answered, and writes without.
  const { decode } = pageCodec(ring);
  const encode = async (payloads: Payload[]) => payloads;
  stranger = new Client({ connection, dataConverter: { payloadCodecs: [{ encode, decode }] } });
}, 120_000);

afterAll(async () => {
  await connection?.close();
  await system?.close();
}, 60_000);

test("an id that a stranger holds open with an input in clear is neither joined nor taken for another input", async () => {
  const held = await stranger.workflow.start("sendPostal", {
    workflowId: "sendPostal/held",
    taskQueue: "a queue of nobody",
    args: [letterInput("held", "delivered")],
  });
  for (const word of ["delivered", "cancellable"]) {
    const again = system.client.sendPostal("held", letterInput("held", word));
    await expect(again).rejects.toThrow(UnprovenAnswerError);
  }
  await held.terminate();
}, 30_000);

test("signals, updates and queries in clear change nothing, and the process goes on", async () => {
  const handle = await system.client.issueCertificate("attacked", holderInput("attacked"));
  const code = await codeFor(system.sandbox, "attacked");
  const attacked = stranger.workflow.getHandle(handle.workflowId);
  const refused = {
    cause: { type: "InvalidInput", message: expect.stringContaining(notEncrypted) },
  };
  const codes = attacked.executeUpdate("submitOtp", { args: [{ code }] });
  await expect(codes).rejects.toMatchObject(refused);
  const decision = { attention: "enroll-1", decision: "abandon", by: "somebody" };
  const resolved = attacked.executeUpdate("resolve", { args: [decision] });
  await expect(resolved).rejects.toMatchObject(refused);
  await expect(attacked.query("status", "x")).rejects.toThrow(notEncrypted);
  for (const junk of [[{ id: "forged" }], "x", null]) await attacked.signal("providerEvents", junk);
  await attacked.signal("repaired", { runId: "x", since: "2026-01-01T00:00:00Z" });
  const { timeline } = await handle.status();
  expect(timeline.map(({ event }) => event)).not.toContain(expect.stringContaining("Repaired"));
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  expect((await handle.result()).outcome).toBe("issued");
}, 90_000);

test("a plain client that tags what it writes starts a process and brings a code", async () => {
  const { TRUSTFLOW_KEYS__CODEC: ring = "", TRUSTFLOW_KEYS__CODEC_WRITE: write = "" } =
    system.stack.env;
  const workflowId = "issueCertificate/tagged";
  const codec = pageCodec(ring, { ring: write, workflowId });
  const plain = new Client({ connection, dataConverter: { payloadCodecs: [codec] } });
  const handle = await plain.workflow.start("issueCertificate", {
    workflowId,
    taskQueue: "trustflow",
    args: [holderInput("tagged")],
  });
  const args: [object] = [{ code: await codeFor(system.sandbox, "tagged") }];
  const reader = new Client({ connection, dataConverter: { payloadCodecs: [pageCodec(ring)] } });
  const untagged = reader.workflow.getHandle(workflowId).executeUpdate("submitOtp", { args });
  await expect(untagged).rejects.toMatchObject({
    cause: { message: expect.stringContaining(notTagged) },
  });
  expect(await handle.executeUpdate("submitOtp", { args })).toEqual({ answer: "accepted" });
  expect(await handle.result()).toMatchObject({ outcome: "issued" });
}, 90_000);

test("with keys.codecRead alone one lists and shows; what writes names keys.codec", async () => {
  const handle = await system.client.issueCertificate("looked-at", holderInput("looked-at"));
  const { TRUSTFLOW_KEYS__CODEC: ring = "", TEMPORAL_ADDRESS = "" } = system.stack.env;
  const env = { TEMPORAL_ADDRESS, TRUSTFLOW_KEYS__CODEC_READ: ring };
  for (const command of ["status", "list"]) {
    const args = command === "status" ? [handle.workflowId] : [];
    const { code, stdout } = await commandLine([command, ...args, "--json"], { env });
    expect([command, code]).toEqual([command, 0]);
    expect(stdout).toContain("looked-at");
  }
  for (const args of [
    ["resolve", handle.workflowId, "--attention", "x-1", "--decision", "abandon", "--by", "ana"],
    ["resend-otp", handle.workflowId],
    ["send-message", "--id", "reader", "--input", messageFile],
  ]) {
    const { code, stderr, stdout } = await commandLine(args, { env });
    expect([args[0], code]).toEqual([args[0], 4]);
    expect(stderr + stdout).toContain("keys.codec is required to start or change a process");
  }
}, 90_000);

function pendingActivity(workflowId: string): Promise<string> {
  return eventually("an activity is under way", async () => {
    const { raw } = await stranger.workflow.getHandle(workflowId).describe();
    const [pending] = raw.pendingActivities ?? [];
    // STARTED
    return pending?.state === 2 && pending.activityId;
  });
}

test.each<
  [string, (client: Client, activity: { workflowId: string; activityId: string }) => Promise<void>]
>([
  ["completes", (client, activity) => client.activity.complete(activity, { uniqueId: "forged" })],
  [
    "fails",
    (client, activity) =>
      client.activity.fail(
        activity,
        ApplicationFailure.nonRetryable("no", "InvalidInput", {
          kind: "invalidRequest",
          fields: [],
        }),
      ),
  ],
])(
  "an activity that a stranger %s is made again, with one effect",
  async (how, attack) => {
    const id = `stranger-${how}`;
    // The codes of the tests before have been entered.
    await system.sandbox.setSpeed(1_000_000);
    await system.sandbox.addFault({
      operation: "evi-post.submit",
      kind: "slow-answer",
      ms: 4_000,
      lookupKey: id,
    });
    const handle = await system.client.sendPostal(id, letterInput(id, "delivered"));
    const { workflowId } = handle;
    await attack(stranger, { workflowId, activityId: await pendingActivity(workflowId) });
    const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
    expect(attention).toMatchObject({ kind: "unavailable", step: "submit" });
    const { outcome, references } = await handle.result();
    expect(outcome).toBe("delivered");
    expect(JSON.stringify(references)).not.toContain("forged");
    expect(await system.effects(id)).toEqual({ "evi-post.submit": 1 });
  },
  90_000,
);

test("the Web UI's buttons need no key", async () => {
  const handle = await system.client.sendPostal("button", letterInput("button", "cancellable"));
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  await stranger.workflow.getHandle(handle.workflowId).cancel();
  expect((await handle.result()).outcome).toBe("cancelled");
  const terminated = await system.client.issueCertificate("ended", holderInput("ended"));
  await stranger.workflow.getHandle(terminated.workflowId).terminate();
  await expect(terminated.result()).rejects.toThrow("terminated");
}, 90_000);
