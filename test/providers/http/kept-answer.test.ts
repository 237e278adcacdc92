// An answer that is kept where the request says: as it comes, whole or not at all.
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { exchange } from "../../../src/providers/http/exchange.js";
import type { HttpRequest, Keep } from "../../../src/providers/http/exchange.js";
import { errorOf } from "../evi-post/account.js";
import { inMemory } from "../memory-keep.js";
import { answering, serverOfEachTest } from "../provider-server.js";

const bytes = randomBytes(300_000);
const server = serverOfEachTest();
let kept: string[];
beforeEach(() => {
  kept = [];
});

/** Notes what it was given, and whether it had come to its end. */
const noting: Keep = {
  async keep(pieces) {
    kept.push("begun");
    const file = await inMemory.keep(pieces);
    kept.push("whole");
    return file;
  },
};

function request(changes: Partial<HttpRequest> = {}): HttpRequest {
  const named = { provider: "evi-post", operation: "downloadAffidavits" };
  const url = new URL(`${server.url}/x`);
  const more = { method: "GET" as const, url, headers: {}, timeoutMs: 5_000, keepIn: noting };
  return { ...named, ...more, effectClass: "read", ...changes };
}

test("a success is kept whole, and shows its first 64 KB; also as the answer to a body", async () => {
  server.answer = answering(bytes, 200, { "content-type": "application/zip" });
  for (const changes of [{}, { method: "POST" as const, body: "{}" }]) {
    const answer = await exchange(request(changes));
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/zip" } });
    expect(answer.body.equals(bytes.subarray(0, 65_536))).toBe(true);
    expect((await buffer(answer.kept!.pieces())).equals(bytes)).toBe(true);
  }
  expect(server.received.map(({ text }) => text)).toEqual(["", "{}"]);
});

test("a success without a body is one with nothing in it", async () => {
  server.answer = answering("", 204);
  const { body, kept: file } = await exchange(request());
  expect([body.length, file?.size]).toEqual([0, 0]);
});

test.each([300, 302, 404])("of a %i nothing is kept: it comes as ever", async (status) => {
  server.answer = answering({ error: "no" }, status);
  const answer = await exchange(request());
  expect(answer).toMatchObject({ status, body: Buffer.from('{"error":"no"}') });
  expect(answer.kept).toBeUndefined();
  expect(kept).toEqual([]);
});

test("one that is larger than allowed ends at the limit, and is not kept", async () => {
  server.answer = answering(bytes);
  const error = await errorOf(exchange(request({ maxBytes: 299_999 })));
  const problem = "the answer is larger than is read";
  const refused = { kind: "protocol", effect: "none", code: "ANSWER_TOO_LARGE", problem };
  expect(error).toMatchObject(refused);
  expect(kept).toEqual(["begun"]);
  await expect(exchange(request({ maxBytes: 300_000 }))).resolves.toBeDefined();
});

test("one that comes slowly may take longer than the limit, and one that pauses for so long may not", async () => {
  async function* slowly() {
    for (const piece of "abcde") {
      await delay(500);
      yield piece;
    }
  }
  server.answer = (_, response) => void Readable.from(slowly()).pipe(response);
  const slow = await exchange(request({ timeoutMs: 2_000 }));
  expect(slow.body.toString()).toBe("abcde");
  server.answer = (_, response) => void response.writeHead(200).write("a");
  const error = await errorOf(exchange(request({ timeoutMs: 200 })));
  expect(error).toMatchObject({ kind: "unavailable", effect: "none", code: "ETIMEDOUT" });
});

test("one that is cut in the middle is not kept", async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { "content-length": "300000" });
    response.write(bytes.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 20));
  };
  const error = await errorOf(exchange(request()));
  expect(error).toMatchObject({ kind: "unavailable", effect: "none" });
  expect(kept).toEqual(["begun"]);
});

test("one that is cut before anybody reads it is not kept, and ends nothing else", async () => {
  const cut = new Promise<void>((resolve) => {
    server.answer = (_, response) => {
      response.once("close", resolve).writeHead(200, { "content-length": "300000" });
      response.write(bytes.subarray(0, 100), () => setTimeout(() => response.destroy(), 20));
    };
  });
  const keepIn: Keep = {
    async keep(pieces) {
      await cut;
      // The end of the connection has to arrive.
      await delay(100);
      return inMemory.keep(pieces);
    },
  };
  const error = await errorOf(exchange(request({ keepIn })));
  expect(error).toMatchObject({ kind: "unavailable", effect: "none" });
});

test("one that stalls ends with the signal", async () => {
  server.answer = (_, response) =>
    void response.writeHead(200, { "content-length": "9" }).write("{");
  const abort = new AbortController();
  const keepIn: Keep = {
    keep(pieces) {
      abort.abort();
      return inMemory.keep(pieces);
    },
  };
  const error = await errorOf(exchange(request({ signal: abort.signal, keepIn })));
  expect(error).toMatchObject({ kind: "unavailable", effect: "none", code: "ABORTED" });
});

test("a disk of ours that is full is no failure of the provider, and its answer is read no further", async () => {
  const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
  const cut = new Promise<void>((resolve) => {
    server.answer = (_, response) =>
      void response.once("close", resolve).writeHead(200, { "content-length": "9" }).write("{");
  });
  const refusing: Keep = { keep: () => Promise.reject(full) };
  await expect(exchange(request({ keepIn: refusing }))).rejects.toBe(full);
  await cut;
  server.answer = answering(bytes);
  const keepIn: Keep = {
    async keep(pieces) {
      for await (const _ of pieces) throw full;
      throw new Error("nothing came");
    },
  };
  await expect(exchange(request({ keepIn }))).rejects.toBe(full);
});

test("a kept file of ours that cannot be read is no failure of the provider", async () => {
  server.answer = answering(bytes);
  const unreadable = Object.assign(new Error("cannot read"), { code: "EIO" });
  const keepIn: Keep = {
    async keep(pieces) {
      const file = await inMemory.keep(pieces);
      const broken = async function* (): AsyncGenerator<Buffer> {
        yield Buffer.alloc(1);
        throw unreadable;
      };
      return { ...file, pieces: broken };
    },
  };
  await expect(exchange(request({ keepIn }))).rejects.toBe(unreadable);
});
