// A multipart body of files: sent from where the bytes lie, read back by a parser that is not ours.
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { fileForm } from "../../../src/providers/http/file-form.js";
import { exchange } from "../../../src/providers/http/exchange.js";
import type { HttpRequest } from "../../../src/providers/http/exchange.js";
import { errorOf } from "../evi-post/account.js";
import { answering, filesOf, startProviderServer } from "../provider-server.js";

const file = { name: "a.pdf", mediaType: "application/pdf" };

function upload(url: string): HttpRequest {
  const named = { provider: "one-shot-signature", operation: "uploadDocument" };
  const call = { method: "POST" as const, url: new URL(url), headers: {}, timeoutMs: 5_000 };
  return { ...named, ...call, effectClass: "lookup" };
}

test("the bytes are streamed from where they lie: nothing copies them", async () => {
  const bytes = Buffer.from(new ArrayBuffer(300_000), 1_000, 200_001);
  const [given] = fileForm("file", [{ ...file, bytes }]).values();
  if (!(given instanceof File)) throw new Error("no file");
  let size = 0;
  for await (const piece of given.stream()) {
    expect(piece.buffer).toBe(bytes.buffer);
    expect(piece.byteOffset).toBe(1_000 + size);
    size += piece.byteLength;
  }
  expect(size).toBe(200_001);
});

test("a file that is read while it is sent is read anew for each form, and says its size before", async () => {
  const bytes = randomBytes(150_000);
  let reads = 0;
  const read = async function* () {
    reads += 1;
    yield* [bytes.subarray(0, 100_000), bytes.subarray(100_000)];
  };
  const server = await startProviderServer(answering(""));
  for (const time of [1, 2]) {
    await exchange({
      ...upload(server.url),
      body: fileForm("file", [{ ...file, size: 150_000, read }]),
    });
    expect(reads).toBe(time);
  }
  await server.close();
  for (const received of server.received) {
    expect(received.headers["content-length"]).toBe(String(received.bytes.length));
    const [arrived] = await filesOf(received);
    expect(arrived?.content.equals(bytes)).toBe(true);
  }
});

test("a file that breaks off while it is sent may have arrived, and its reader ends", async () => {
  let ended = false;
  const read = async function* () {
    try {
      yield randomBytes(100_000);
      throw new Error("damaged");
    } finally {
      ended = true;
    }
  };
  const server = await startProviderServer(answering(""));
  const body = fileForm("file", [{ ...file, size: 150_000, read }]);
  const error = await errorOf(exchange({ ...upload(server.url), body }));
  await server.close();
  expect(error).toMatchObject({ kind: "unavailable", effect: "unknown" });
  expect(ended).toBe(true);
  expect(server.received).toEqual([]);
});

test.each([0, 1, 65_535, 65_536, 65_537, 3_000_017])(
  "a file of %i bytes that lies inside a larger buffer arrives as it is",
  async (size) => {
    const bytes = Buffer.concat([Buffer.from("before"), randomBytes(size), Buffer.from("after")]);
    const server = await startProviderServer(answering(""));
    const body = fileForm("file", [{ ...file, bytes: bytes.subarray(6, 6 + size) }]);
    await exchange({ ...upload(server.url), body });
    await server.close();
    const [received] = server.received;
    expect(received?.headers["content-length"]).toBe(String(received?.bytes.length));
    const [arrived] = await filesOf(received!);
    expect(arrived).toMatchObject({ part: "file", ...file });
    expect(arrived?.content.equals(bytes.subarray(6, 6 + size))).toBe(true);
  },
);
