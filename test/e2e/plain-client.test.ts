// A business application without any of Trustflow's code: a plain Temporal client with the same key and a codec of its own,
// written as the encryption samples describe it.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client, Connection } from "@temporalio/client";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import protobuf from "@temporalio/proto";
import { InputMismatchError } from "../../src/client.js";
import { letterPdf } from "../support/letters.js";
import { startTestStack } from "../support/stack.js";
import type { TestStack } from "../support/stack.js";

type Payload = { metadata?: Record<string, Uint8Array> | null; data?: Uint8Array | null };
const { Payload: PayloadMessage } = protobuf.temporal.api.common.v1;

let system: TestStack;
let connection: Connection;
let client: Client;

function codec(keyId: string, key: Buffer) {
  return {
    async encode(payloads: Payload[]): Promise<Payload[]> {
      return payloads.map((payload) => {
        const iv = randomBytes(12);
        const cipher = createCipheriv("aes-256-gcm", key, iv);
        const sealed = [
          iv,
          cipher.update(PayloadMessage.encode(payload).finish()),
          cipher.final(),
          cipher.getAuthTag(),
        ];
        const metadata = {
          encoding: Buffer.from("binary/encrypted"),
          "encryption-key-id": Buffer.from(keyId),
        };
        return { metadata, data: Buffer.concat(sealed) };
      });
    },
    async decode(payloads: Payload[]): Promise<Payload[]> {
      return payloads.map((payload) => {
        const encoding = Buffer.from(payload.metadata?.["encoding"] ?? []).toString();
        if (encoding !== "binary/encrypted") return payload;
        const data = Buffer.from(payload.data ?? []);
        const decipher = createDecipheriv("aes-256-gcm", key, data.subarray(0, 12));
        decipher.setAuthTag(data.subarray(-16));
        const plain = Buffer.concat([decipher.update(data.subarray(12, -16)), decipher.final()]);
        return PayloadMessage.decode(plain);
      });
    },
  };
}

beforeAll(async () => {
  system = await startTestStack();
  const [keyId = "", key = ""] =
    (system.stack.env["TRUSTFLOW_KEYS__CODEC"] ?? "").split(",")[0]?.split(":") ?? [];
  connection = await Connection.connect({ address: system.stack.env["TEMPORAL_ADDRESS"] ?? "" });
  client = new Client({
    connection,
    dataConverter: { payloadCodecs: [codec(keyId, Buffer.from(key, "base64"))] },
  });
}, 120_000);

afterAll(async () => {
  await connection?.close();
  await system?.close();
}, 60_000);

const input = {
  document: { base64: letterPdf.toString("base64"), mediaType: "application/pdf" },
  recipientName: "sandbox:delivered",
  recipientAddress: {
    streetAddress: "Calle Mayor 1",
    postalCode: "28013",
    locality: "Madrid",
    region: "Madrid",
    country: "ES",
  },
  lookupKey: "plain",
  settings: { pollIntervalSeconds: 3, askIntervalSeconds: 1, affidavitWindowSeconds: 2 },
};

test("it starts the process with an inline document and reads its result", async () => {
  const workflowId = "sendPostal/plain";
  const result = await client.workflow.execute("sendPostal", {
    workflowId,
    taskQueue: "trustflow",
    args: [input],
  });
  expect(result).toMatchObject({ process: "sendPostal", id: "plain", outcome: "delivered" });
  expect(result.documents[0].document).toMatchObject({
    uri: expect.stringMatching(/^document:/),
    size: letterPdf.length,
  });
  expect(await system.effects("plain")).toEqual({ "evi-post.submit": 1 });
}, 60_000);

test("its bad input fails as InvalidInput with the field named, before any effect", async () => {
  const { recipientAddress: _, ...bad } = { ...input, lookupKey: "plain-bad", unheard: true };
  const failed = client.workflow.execute("sendPostal", {
    workflowId: "sendPostal/plain-bad",
    taskQueue: "trustflow",
    args: [bad],
  });
  await expect(failed).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
  const fields = await failed.catch((error) =>
    error.cause.details[0].fields.map(({ path }: { path: string }) => path),
  );
  expect(fields).toContain("recipientAddress");
  expect(await system.effects("plain-bad")).toEqual({});
}, 60_000);

test("our client joins what it has started only with the same input, open or finished", async () => {
  const own = { ...input, lookupKey: "shared" };
  const other = { ...own, recipientEmail: "someone@example.org" };
  const workflowId = "sendPostal/shared";
  // The order of the keys and the settings make no difference.
  const same = { ...own, settings: {}, document: own.document };
  const started = await client.workflow.start("sendPostal", {
    workflowId,
    taskQueue: "trustflow",
    args: [own],
  });
  await expect(system.client.sendPostal("shared", other)).rejects.toThrow(InputMismatchError);
  const joined = await system.client.sendPostal("shared", same);
  const result = await started.result();
  expect(await joined.result()).toEqual(result);
  await expect(system.client.sendPostal("shared", other)).rejects.toThrow(InputMismatchError);
  expect(await (await system.client.sendPostal("shared", same)).result()).toEqual(result);
  expect(await system.effects("shared")).toEqual({ "evi-post.submit": 1 });
}, 60_000);

test("our client refuses to join what was started without an input, and needs no worker for that", async () => {
  const workflowId = "sendPostal/nothing";
  // Nobody works on this queue.
  await client.workflow.start("sendPostal", { workflowId, taskQueue: "nobody", args: [] });
  const second = system.client.sendPostal("nothing", input);
  await expect(second).rejects.toThrow(InputMismatchError);
}, 60_000);
