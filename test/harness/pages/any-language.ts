// The codec of docs/any-language.md, written from that page alone: it shares no line with Trustflow or with Temporal's SDK but the
// protobuf library.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import protobuf from "protobufjs";

/** As the page has it: field 1 is a map of text to bytes, field 2 is bytes. */
const message = new protobuf.Type("Payload")
  .add(new protobuf.MapField("metadata", 1, "string", "bytes"))
  .add(new protobuf.Field("data", 2, "bytes"));
new protobuf.Root().add(message);

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
  const bytes = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  const payload = message.decode(bytes) as Partial<PlainPayload>;
  return { metadata: payload.metadata ?? {}, data: payload.data ?? new Uint8Array() };
}

export function serialised({ metadata, data }: Given): Buffer {
  return Buffer.from(message.encode({ metadata: metadata ?? {}, data: data ?? [] }).finish());
}

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
