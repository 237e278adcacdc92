import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import proto from "@temporalio/proto";
import { createDecipheriv } from "node:crypto";
import { expect, test } from "vitest";
import { DecryptionError, UnknownKeyError } from "../../../src/crypto/errors.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { EncryptionCodec } from "../../../src/temporal/codec/codec.js";

const ringText = generateKeyRing("k1");
const codec = new EncryptionCodec(KeyRing.parse(ringText));
const payload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();

test("a payload is written as Temporal's encryption samples write it", async () => {
  const [encrypted] = await codec.encode([payload({ letter: "content" })]);
  expect(new Set(Object.keys(encrypted?.metadata ?? {}))).toEqual(
    new Set(["encoding", "encryption-key-id"]),
  );
  expect(text(encrypted?.metadata?.["encoding"])).toBe("binary/encrypted");
  expect(text(encrypted?.metadata?.["encryption-key-id"])).toBe("k1");

  const data = Buffer.from(encrypted?.data ?? []);
  const key = Buffer.from(ringText.slice(3), "base64");
  const decipher = createDecipheriv("aes-256-gcm", key, data.subarray(0, 12)).setAuthTag(
    data.subarray(-16),
  );
  const opened = Buffer.concat([decipher.update(data.subarray(12, -16)), decipher.final()]);
  const inner = proto.temporal.api.common.v1.Payload.decode(opened);
  expect(text(inner.metadata["encoding"])).toBe("json/plain");
  expect(text(inner.data)).toBe('{"letter":"content"}');
});

test("every payload comes back as it was, in order", async () => {
  const payloads = [
    payload("one"),
    payload(undefined),
    payload(new Uint8Array([0, 255])),
    payload({ n: [1, null] }),
  ];
  const decoded = await codec.decode(await codec.encode(payloads));
  expect(decoded.map((one) => defaultPayloadConverter.fromPayload(one))).toEqual([
    "one",
    undefined,
    new Uint8Array([0, 255]),
    { n: [1, null] },
  ]);
  expect(await codec.encode([])).toEqual([]);
  const stored = [{ ...payload("elsewhere"), externalPayloads: [{}] }, payload("here")];
  const parts = (await codec.decode(await codec.encode(stored))).map((one) => one.externalPayloads);
  expect(parts.map((some) => some?.length)).toEqual([1, undefined]);
});

test("a payload that is not encrypted passes through decode unchanged", async () => {
  const plain = payload("plain");
  const bare: Payload = { data: Buffer.from("x") };
  expect(await codec.decode([plain, bare])).toEqual([plain, bare]);
});

test("a payload of an older key is read after a rotation, and the new key writes", async () => {
  const [old] = await codec.encode([payload("old")]);
  const rotated = new EncryptionCodec(KeyRing.parse(`${generateKeyRing("k2")},${ringText}`));
  const [decoded] = await rotated.decode([old as Payload]);
  expect(defaultPayloadConverter.fromPayload(decoded as Payload)).toBe("old");
  const [fresh] = await rotated.encode([payload("new")]);
  expect(text(fresh?.metadata?.["encryption-key-id"])).toBe("k2");
});

test("an unknown key is an error that names the key", async () => {
  const encrypted = await new EncryptionCodec(KeyRing.parse(generateKeyRing("gone"))).encode([
    payload("x"),
  ]);
  await expect(codec.decode(encrypted)).rejects.toThrow(new UnknownKeyError("gone"));
});

test("a changed payload and one without key id or data are refused", async () => {
  const [encrypted] = (await codec.encode([payload("x")])) as [Payload];
  const data = Buffer.from(encrypted.data ?? []);
  data[20] = (data[20] ?? 0) ^ 1;
  await expect(codec.decode([{ ...encrypted, data }])).rejects.toThrow(DecryptionError);
  await expect(codec.decode([{ metadata: encrypted.metadata ?? {} }])).rejects.toThrow(
    DecryptionError,
  );
  const { encoding } = encrypted.metadata as Record<string, Uint8Array>;
  await expect(
    codec.decode([{ ...encrypted, metadata: { encoding: encoding as Uint8Array } }]),
  ).rejects.toThrow("does not name its key");
});
