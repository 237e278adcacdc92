// The codec of docs/any-language.md, written from that page alone: it shares no line with Trustflow or with Temporal's SDK.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

export interface PlainPayload {
  metadata: Record<string, Uint8Array>;
  data: Uint8Array;
}

type Given = {
  metadata?: Record<string, Uint8Array> | null | undefined;
  data?: Uint8Array | null | undefined;
};

/** `write`: the ring of the tag, and the process that it is for. */
export function pageCodec(ring: string, write?: { ring: string; workflowId: string }) {
  const keys = new Map(
    ring.split(",").map((entry) => {
      const [id = "", key = ""] = entry.split(":");
      return [id, Buffer.from(key, "base64")] as const;
    }),
  );
  const [[keyId, key] = ["", Buffer.alloc(0)]] = keys;
  return {
    async encode(payloads: Given[]): Promise<PlainPayload[]> {
      return payloads
        .map((payload) => sealed(payload, keyId, key, randomBytes(12)))
        .map((payload) => (write ? tagged(payload, write) : payload));
    },
    async decode(payloads: Given[]): Promise<PlainPayload[]> {
      return payloads.map((payload) => {
        const { metadata, data } = { metadata: payload.metadata ?? {}, data: payload.data ?? [] };
        if (text(metadata["encoding"]) !== "binary/encrypted")
          return { metadata, data: Buffer.from(data) };
        const used = keys.get(text(metadata["encryption-key-id"]));
        if (!used) throw new Error("no such key");
        return opened(Buffer.from(data), used);
      });
    },
  };
}

export function sealed(payload: Given, keyId: string, key: Buffer, iv: Buffer): PlainPayload {
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  const ciphertext = Buffer.concat([cipher.update(serialised(payload)), cipher.final()]);
  return {
    metadata: {
      encoding: Buffer.from("binary/encrypted"),
      "encryption-key-id": Buffer.from(keyId),
    },
    data: Buffer.concat([iv, ciphertext, cipher.getAuthTag()]),
  };
}

/** In the namespace `default`. */
export function tagged(
  { metadata, data }: PlainPayload,
  { ring, workflowId }: { ring: string; workflowId: string },
): PlainPayload {
  const [id = "", key = ""] = ring.split(",")[0]?.split(":") ?? [];
  const tag = createHmac("sha256", Buffer.from(key, "base64"))
    .update(Buffer.concat([Buffer.from(`trustflow\ndefault\n${workflowId}\n`), data]))
    .digest();
  const own = { "trustflow-write-key-id": Buffer.from(id), "trustflow-write-tag": tag };
  return { metadata: { ...metadata, ...own }, data };
}

function opened(data: Buffer, key: Buffer): PlainPayload {
  const decipher = createDecipheriv("aes-256-gcm", key, data.subarray(0, 12));
  decipher.setAuthTag(data.subarray(data.length - 16));
  const ciphertext = data.subarray(12, data.length - 16);
  return parsed(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
}

/** Field 1: map of text to bytes; field 2: bytes. */
export function serialised({ metadata, data }: Given): Buffer {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) =>
    field(1, Buffer.concat([field(1, Buffer.from(name)), field(2, Buffer.from(value))])),
  );
  return Buffer.concat([...entries, field(2, Buffer.from(data ?? []))]);
}

function parsed(bytes: Buffer): PlainPayload {
  const payload: PlainPayload = { metadata: {}, data: new Uint8Array() };
  for (const [number, content] of fieldsOf(bytes)) {
    if (number === 2) payload.data = content;
    if (number !== 1) continue;
    const entry = new Map(fieldsOf(content));
    payload.metadata[text(entry.get(1))] = entry.get(2) ?? new Uint8Array();
  }
  return payload;
}

/** All of them are of wire type 2: a length, and so many bytes. */
function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.of(number * 8 + 2), varint(content.length), content]);
}

function* fieldsOf(bytes: Buffer): Generator<[number, Buffer]> {
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at);
    let length = 0;
    let shift = 0;
    for (at += 1; ; at += 1, shift += 7) {
      const byte = bytes.readUInt8(at);
      length += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    at += 1;
    yield [tag >> 3, bytes.subarray(at, at + length)];
    at += length;
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.of(...bytes, rest);
}

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
