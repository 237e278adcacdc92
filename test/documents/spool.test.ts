// The spool: what is kept comes back, in any part, and nothing of it can be found outside.
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "../harness/documents/open-store.js";
import type { OpenStore } from "../harness/documents/open-store.js";

const bytes = randomBytes(200_000);
let root: string;
let store: OpenStore["documents"];
let remove: OpenStore["close"];
beforeEach(async () => {
  ({ directory: root, documents: store, close: remove } = await openStore());
});
afterEach(() => remove());

async function* pieces(): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 7_001) yield bytes.subarray(at, at + 7_001);
}

test("what is kept comes back, as a whole and in any part, again and again", async () => {
  await store.withSpool(async (spool) => {
    const [file, empty] = [await spool.keep(pieces()), await spool.keep(none())];
    expect([file.size, empty.size]).toEqual([bytes.length, 0]);
    expect(file.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect((await buffer(file.pieces())).equals(bytes)).toBe(true);
    expect(await buffer(empty.pieces())).toHaveLength(0);
    for (const [from, to] of [
      [0, 1],
      [65_535, 65_537],
      [65_536, 131_072],
      [100, 199_999],
      [199_999, 200_000],
      [5, 5],
    ])
      expect((await buffer(file.pieces(from, to))).equals(bytes.subarray(from, to))).toBe(true);
  });
});

test("no name and no plaintext of it is on the disk while it is used, and nothing after", async () => {
  const before = await openFiles();
  await store.withSpool(async (spool) => {
    await spool.keep(pieces());
    expect(await readdir(root)).toEqual([]);
  });
  await expect(
    store.withSpool(async (spool) => {
      await spool.keep(pieces());
      throw new Error("no use");
    }),
  ).rejects.toThrow("no use");
  expect(await openFiles()).toBeLessThanOrEqual(before);
  expect(await readdir(root)).toEqual([]);
});

test("what breaks off is not kept", async () => {
  async function* broken() {
    yield randomBytes(100_000);
    throw new Error("cut");
  }
  await store.withSpool(async (spool) => {
    await expect(spool.keep(broken())).rejects.toThrow("cut");
  });
});

async function* none(): AsyncGenerator<Buffer> {}

async function openFiles(): Promise<number> {
  return (await readdir("/proc/self/fd")).length;
}
