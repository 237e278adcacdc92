// Failures of the connection: what may have reached the provider, by effect class (P2 §4.1; docs/reading-the-specification.md §0).
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import tls, { createServer as createTlsServer } from "node:tls";
import { describe, expect, test, vi } from "vitest";
import { retryAfterMs } from "../../../src/contracts/shared/retry-after.js";
import { exchange } from "../../../src/providers/http/exchange.js";
import type { HttpRequest } from "../../../src/providers/http/exchange.js";
import type { EffectClass } from "../../../src/providers/effect-classes.js";
import { errorOf } from "../evi-post/account.js";
import { authority, mutualTls } from "./mutual-tls.js";
import { inMemory } from "../memory-keep.js";
import { refusingUrl, serverOfEachTest, startProviderServer } from "../provider-server.js";

const classes: EffectClass[] = ["read", "repeatable", "keyed", "lookup", "once"];
const noAnswer = {
  read: { kind: "unavailable", effect: "none" },
  repeatable: { kind: "unavailable", effect: "unknown" },
  keyed: { kind: "unavailable", effect: "unknown" },
  lookup: { kind: "unavailable", effect: "unknown" },
  once: { kind: "unknownOutcome", effect: "unknown" },
};
const notSent = { kind: "unavailable", effect: "none", problem: "not sent" };

const server = serverOfEachTest((_, response) => void response.end("ok"));

function request(effectClass: EffectClass, changes: Partial<HttpRequest> = {}): HttpRequest {
  const url = new URL(`${server.url}/x`);
  const named = { provider: "evi-post", operation: "submit", effectClass };
  return { ...named, method: "POST", url, headers: {}, body: "{}", timeoutMs: 5000, ...changes };
}

describe.each(classes)("for the class %s", (effectClass) => {
  test("a refused connection sent nothing", async () => {
    const url = new URL(await refusingUrl());
    const error = await errorOf(exchange(request(effectClass, { url })));
    expect(error).toMatchObject({ ...notSent, code: "ECONNREFUSED" });
  });

  test("a TLS handshake that fails sent nothing", async () => {
    const tls = createTlsServer({}).on("tlsClientError", () => undefined);
    const url = new URL(`https://127.0.0.1:${await listen(tls)}/`);
    const error = await errorOf(exchange(request(effectClass, { url })));
    tls.close();
    expect(error).toMatchObject(notSent);
  });

  test("a connection cut before the answer may have sent it", async () => {
    server.answer = (_, response) => void response.destroy();
    const error = await errorOf(exchange(request(effectClass)));
    expect(error).toMatchObject({ ...noAnswer[effectClass], code: "ECONNRESET" });
  });

  test("a TLS connection cut before the answer may have sent it", async () => {
    const { connect } = tls;
    const trusting = (options: tls.ConnectionOptions) =>
      connect({ ...options, ca: authority.cert });
    const connecting = vi.spyOn(tls, "connect").mockImplementation(trusting as typeof connect);
    const { cert, key } = mutualTls;
    const cut = await startProviderServer((_, response) => void response.destroy(), {
      tls: { cert, key },
    });
    const error = await errorOf(exchange(request(effectClass, { url: new URL(cut.url) })));
    await cut.close();
    connecting.mockRestore();
    expect(error).toMatchObject({ ...noAnswer[effectClass], code: "ECONNRESET" });
    expect(cut.received.length).toBeGreaterThan(0);
  });

  test("a connection cut in the middle of the answer may have done it", async () => {
    server.answer = (_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{", () => setTimeout(() => response.destroy(), 20));
    };
    expect(await errorOf(exchange(request(effectClass)))).toMatchObject(noAnswer[effectClass]);
  });

  test("an answer slower than the time limit may have done it", async () => {
    server.answer = () => undefined;
    const error = await errorOf(exchange(request(effectClass, { timeoutMs: 200 })));
    expect(error).toMatchObject({ ...noAnswer[effectClass], code: "ETIMEDOUT" });
  });

  test("an answer that stalls in its body ends at the time limit", async () => {
    server.answer = (_, response) =>
      void response.writeHead(200, { "content-length": "9" }).write("{");
    const error = await errorOf(exchange(request(effectClass, { timeoutMs: 200 })));
    expect(error).toMatchObject(noAnswer[effectClass]);
  });

  test("an abort while the answer is awaited may have done it", async () => {
    const abort = new AbortController();
    server.answer = () => abort.abort();
    const error = await errorOf(exchange(request(effectClass, { signal: abort.signal })));
    expect(error).toMatchObject({ ...noAnswer[effectClass], code: "ABORTED" });
  });

  test("an abort before the call sent nothing", async () => {
    const signal = AbortSignal.abort();
    const error = await errorOf(exchange(request(effectClass, { signal })));
    expect(error).toMatchObject({ ...notSent, code: "ABORTED" });
    expect(server.received).toEqual([]);
  });

  test("what is not HTTP is no answer", async () => {
    const raw = createServer((socket) => socket.once("data", () => socket.end("hello\r\n\r\n")));
    const url = new URL(`http://127.0.0.1:${await listen(raw)}/`);
    const error = await errorOf(exchange(request(effectClass, { url })));
    raw.close();
    expect(error).toMatchObject(noAnswer[effectClass]);
  });
});

test("an unknown host name sent nothing", async () => {
  const url = new URL("http://trustflow-nobody.invalid/");
  expect(await errorOf(exchange(request("keyed", { url })))).toMatchObject(notSent);
});

test("a question keeps its connection for the next one, and a call with an effect opens its own", async () => {
  const sockets = new Set<unknown>();
  server.answer = (_, response, raw) => {
    sockets.add(raw.socket);
    response.end();
  };
  await exchange(request("read"));
  await exchange(request("read"));
  expect(sockets.size).toBe(1);
  for (const effectClass of classes.filter((one) => one !== "read"))
    await exchange(request(effectClass));
  expect(sockets.size).toBe(classes.length);
});

test("a question that meets the end of a kept connection is asked once more, on a connection of its own", async () => {
  const answered = new Set<unknown>();
  server.answer = (_, response, { socket }) => {
    if (answered.has(socket)) response.destroy();
    else response.end("ok");
    answered.add(socket);
  };
  await exchange(request("read"));
  expect((await exchange(request("read"))).body.toString()).toBe("ok");
  expect(server.received).toHaveLength(3);
});

test.each(["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY"] as const)(
  "a %s without a body is sent, and waits for none",
  async (method) => {
    await exchange(request("once", { method, body: undefined }));
    expect(server.received).toMatchObject([{ method, text: "" }]);
  },
);

test("nothing is repeated: one call, one request", async () => {
  server.answer = (_, response) => void response.writeHead(503, { connection: "close" }).end();
  expect(await exchange(request("read", { method: "GET", body: undefined }))).toMatchObject({
    status: 503,
  });
  server.answer = (_, response) => void response.destroy();
  await errorOf(exchange(request("read", { method: "GET", body: undefined })));
  expect(server.received).toHaveLength(2);
});

test("a success of more than a megabyte is no answer, unless it may be longer", async () => {
  const megabyte = 1024 * 1024;
  server.answer = (_, response) => void response.end(Buffer.alloc(megabyte));
  expect((await exchange(request("once"))).body).toHaveLength(megabyte);
  server.answer = (_, response) => void response.end(Buffer.alloc(megabyte + 1));
  const code = "ANSWER_TOO_LARGE";
  expect(await errorOf(exchange(request("once")))).toMatchObject({ ...noAnswer.once, code });
  const longer = await exchange(request("once", { maxBytes: megabyte + 1 }));
  expect(longer.body).toHaveLength(megabyte + 1);
});

test.each([
  ["in memory", {}],
  ["to be kept", { keepIn: inMemory, maxBytes: 5_000_000 }],
])("of a refusal %s the first megabyte is read, and no end is waited for", async (_, more) => {
  server.answer = (_request, response) => {
    response.writeHead(400).write(Buffer.alloc(2_000_000, "a"));
  };
  const { status, body } = await exchange(request("once", more));
  expect([status, body.equals(Buffer.alloc(1024 * 1024, "a"))]).toEqual([400, true]);
});

test("a header that cannot be sent is our own mistake", async () => {
  const error = await errorOf(exchange(request("keyed", { headers: { x: "a\nb" } })));
  const problem = "the request could not be built";
  expect(error).toMatchObject({ kind: "protocol", effect: "none", problem });
  expect(server.received).toEqual([]);
});

describe("Retry-After", () => {
  const now = Date.UTC(2026, 2, 2, 9, 0, 0);
  test.each([
    ["seconds", { "retry-after": "7" }, 7000],
    ["zero", { "retry-after": "0" }, 0],
    ["a date", { "retry-after": "Mon, 02 Mar 2026 09:02:00 GMT" }, 120_000],
    [
      "a date against the answer's own clock",
      { "retry-after": "Mon, 02 Mar 2026 09:02:00 GMT", date: "Mon, 02 Mar 2026 09:01:30 GMT" },
      30_000,
    ],
    ["a date that is over", { "retry-after": "Mon, 02 Mar 2026 08:00:00 GMT" }, 0],
    ["more than a day is cut", { "retry-after": "99999999999999999999" }, 86_400_000],
    ["a word", { "retry-after": "soon" }, undefined],
    ["a negative number", { "retry-after": "-5" }, undefined],
    ["a fraction", { "retry-after": "1.5" }, undefined],
    ["nothing", {}, undefined],
  ])("%s", (_, headers, expected) => {
    expect(retryAfterMs(headers, now)).toBe(expected);
  });
});

async function listen(raw: Server): Promise<number> {
  await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
  return (raw.address() as AddressInfo).port;
}
