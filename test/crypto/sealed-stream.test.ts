// The stream format: what was sealed opens, and nothing else does.
import { createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { DecryptionError } from "../../src/crypto/errors.js";
import type { Key } from "../../src/crypto/key-ring.js";
import {
  openStream,
  sealStream,
  streamHeaderOf,
  streamSize,
} from "../../src/crypto/sealed-stream.js";
import type { Pieces, SealingKey } from "../../src/crypto/sealed-stream.js";

const key: Key = { id: "k1", bytes: randomBytes(32) };
const sealing: SealingKey = { of: "ring", key };
const context = "document:00112233445566778899aabbccddeeff";
const CHUNK = 16;
const TAG = 16;
const HEADER = 2 + "k1".length + 4 + 32 + 7;

async function joined(pieces: Pieces): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece));
  return Buffer.concat(all);
}

const seal = (plaintext: Buffer, chunkBytes = CHUNK) =>
  joined(sealStream(sealing, [plaintext], context, chunkBytes));

async function open(sealed: Buffer, with_: { key?: Key; context?: string } = {}): Promise<Buffer> {
  const header = streamHeaderOf(sealed.subarray(0, 512));
  const file = {
    size: sealed.length,
    read: async (position: number, length: number) => sealed.subarray(position, position + length),
  };
  return joined(openStream(with_.key ?? key, header, file, with_.context ?? context));
}

test.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 5 * CHUNK, 5 * CHUNK + 3])(
  "%i bytes open to what they were, with no chunk more than they need",
  async (size) => {
    const plaintext = randomBytes(size);
    const sealed = await seal(plaintext);
    expect(await open(sealed)).toEqual(plaintext);
    const chunks = Math.max(1, Math.ceil(size / CHUNK));
    expect(sealed).toHaveLength(HEADER + size + chunks * TAG);
    expect(streamSize(streamHeaderOf(sealed), sealed.length)).toBe(size);
  },
);

test("however the bytes come in pieces, the chunks are the same", async () => {
  const plaintext = randomBytes(100);
  for (const size of [1, 7, 16, 33, 100]) {
    const pieces = Array.from({ length: Math.ceil(100 / size) }, (_, index) =>
      plaintext.subarray(index * size, (index + 1) * size),
    );
    const sealed = await joined(
      sealStream(sealing, [Buffer.alloc(0), ...pieces, Buffer.alloc(0)], context, CHUNK),
    );
    expect(sealed).toHaveLength(HEADER + 100 + 7 * TAG);
    expect(await open(sealed)).toEqual(plaintext);
  }
});

test("each flipped bit is refused, in the header, in every chunk and in every tag", async () => {
  const sealed = await seal(randomBytes(2 * CHUNK + 5));
  for (let at = 0; at < sealed.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1 << bit;
      await expect(open(changed)).rejects.toThrow(DecryptionError);
    }
  }
});

test("a file that is cut is refused, wherever: also between two chunks, and after the header", async () => {
  const sealed = await seal(randomBytes(3 * CHUNK));
  for (let length = 0; length < sealed.length; length++)
    await expect(open(sealed.subarray(0, length))).rejects.toThrow(DecryptionError);
});

test("a file that goes on after its end is refused: by a byte, by its last chunk again, by another file's end", async () => {
  const sealed = await seal(randomBytes(3 * CHUNK));
  const other = await seal(randomBytes(CHUNK));
  for (const more of [Buffer.alloc(1), sealed.subarray(-(CHUNK + TAG)), other.subarray(HEADER)])
    await expect(open(Buffer.concat([sealed, more]))).rejects.toThrow(DecryptionError);
});

test("chunks that change places, are missing, come twice or come from another file are refused", async () => {
  const sealed = await seal(randomBytes(4 * CHUNK));
  const other = await seal(randomBytes(4 * CHUNK));
  const header = sealed.subarray(0, HEADER);
  const chunk = (from: Buffer, number: number) =>
    from.subarray(HEADER + number * (CHUNK + TAG), HEADER + (number + 1) * (CHUNK + TAG));
  const of = (...chunks: Buffer[]) => Buffer.concat([header, ...chunks]);
  const [a, b, c, d] = [0, 1, 2, 3].map((number) => chunk(sealed, number)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  expect(await open(of(a, b, c, d))).toHaveLength(4 * CHUNK);
  const wrong = [of(b, a, c, d), of(a, c, b, d), of(a, b, d, c), of(a, c, d), of(a, b, b, c, d)];
  const foreign = [of(a, chunk(other, 1), c, d), of(a, b, c, chunk(other, 3))];
  for (const each of [...wrong, ...foreign])
    await expect(open(each)).rejects.toThrow("context and place");
});

test("another context, another key of the same id, and another header are refused at the first chunk", async () => {
  const sealed = await seal(randomBytes(40));
  await expect(open(sealed, { context: `${context.slice(0, -1)}0` })).rejects.toThrow("chunk 0");
  await expect(open(sealed, { key: { id: "k1", bytes: randomBytes(32) } })).rejects.toThrow(
    "chunk 0",
  );
  const asOfProcess = Buffer.concat([Buffer.of(5), sealed.subarray(1)]);
  await expect(open(asOfProcess)).rejects.toThrow("chunk 0");
});

test("a header asks for no more memory than a chunk may have", async () => {
  const sealed = await seal(randomBytes(40));
  for (const size of [0, 1024 * 1024 + 1, 0xffffffff]) {
    const changed = Buffer.from(sealed);
    changed.writeUInt32BE(size, 4);
    await expect(open(changed)).rejects.toThrow("no valid chunk size");
  }
});

test("equal content never looks equal, and never has the same key", async () => {
  const [one, two] = [await seal(Buffer.alloc(40)), await seal(Buffer.alloc(40))];
  expect(one.subarray(HEADER).equals(two.subarray(HEADER))).toBe(false);
  expect(one.subarray(8, HEADER).equals(two.subarray(8, HEADER))).toBe(false);
});

test("a reader that is not ours opens it by the written layout alone", async () => {
  const plaintext = randomBytes(150_000);
  const sealed = await joined(sealStream({ of: "process", key }, [plaintext], context));
  expect(sealed[0]).toBe(5);
  expect(sealed.readUInt32BE(4)).toBe(65_536);
  const salt = sealed.subarray(8, 40);
  const info = Buffer.concat([sealed.subarray(0, 47), Buffer.from(context)]);
  const fileKey = Buffer.from(hkdfSync("sha256", key.bytes, salt, info, 32));
  const opened = [0, 1, 2].map((number) => {
    const chunk = sealed.subarray(47 + number * 65_552, 47 + (number + 1) * 65_552);
    const nonce = Buffer.concat([sealed.subarray(40, 47), Buffer.of(0, 0, 0, number)]);
    const whole = Buffer.concat([nonce, Buffer.of(number === 2 ? 1 : 0)]);
    const decipher = createDecipheriv("aes-256-gcm", fileKey, whole);
    decipher.setAuthTag(chunk.subarray(-16));
    return Buffer.concat([decipher.update(chunk.subarray(0, -16)), decipher.final()]);
  });
  expect(Buffer.concat(opened).equals(plaintext)).toBe(true);
});

// Made once, by a program that is not ours: it must open for ever.
const recorded = {
  key: "ead16d3bd0ba6a36fbd6f1dd1b4ea2c5a0f5a6b1c4ee7f3f1bb3f5f0b3a7c9d1",
  sealed:
    "BAJrMQAAABAxMqolPB6DUgEKcBJ88a/ARiRB/yXU5U5l7D5SN1IcgHjjIfFRKajxkQ4Hi3MslstxYfqbAA+J8UTMf6DZ1kQENcdGDnTVKZQcLOhYEoS+dimim7X+Vgz+DGUTrYrXvKHoUsoCeuaJWLLPWMilWtYWUa/r5QN6whKoMp2iovQOv8n5dbAD",
};

test("what was sealed once opens", async () => {
  const old: Key = { id: "k1", bytes: Buffer.from(recorded.key, "hex") };
  const opened = await open(Buffer.from(recorded.sealed, "base64"), { key: old });
  expect(opened.toString()).toBe("%PDF-1.7 a letter to nobody, in several chunks");
});
