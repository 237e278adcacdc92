// One request of a webhook to real servers: where it may go, and what counts as taken.
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { RequestListener } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo } from "node:net";
import dns from "node:dns";
import { afterEach, expect, vi, test } from "vitest";
import {
  certificateAuthority,
  serverCertificate,
} from "../../packages/sandbox/src/tls/certificate.js";
import { post } from "../../src/webhooks/post.js";
import { eventually } from "../harness/outages/wait.js";
import { isPublic, publicLookup } from "../../src/webhooks/public-address.js";

const serverTls = serverCertificate(["localhost"], certificateAuthority("Nobody knows it"));
const opened: { close(): void }[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

async function serve(listener: RequestListener): Promise<{ port: number; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

const send = (url: string, more: object = {}) =>
  post({ url, headers: {}, body: "{}", allowPrivate: true, ...more });

test("the status is the result, and a redirect is followed by nobody", async () => {
  const other = await serve((_, response) => void response.writeHead(204).end());
  const { port, requests } = await serve((_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${other.port}/` }).end();
  });
  expect(await send(`http://127.0.0.1:${port}/a?b=c`)).toEqual({ status: 307 });
  expect(requests).toEqual(["POST /a?b=c"]);
  expect(other.requests).toEqual([]);
});

test("a private host is not connected to, by its address or by its name", async () => {
  const { port, requests } = await serve((_, response) => void response.writeHead(204).end());
  for (const [host, refused] of [
    ["127.0.0.1", "127.0.0.1"],
    ["localhost", expect.stringMatching(/^localhost \((127\.0\.0\.1|::1)(, 127\.0\.0\.1)?\)$/)],
    ["[::ffff:127.0.0.1]", "::ffff:7f00:1"],
    ["0x7f.1", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
  ])
    expect([host, await send(`http://${host}:${port}/`, { allowPrivate: false })]).toEqual([
      host,
      { problem: "privateAddress", refused },
    ]);
  expect(requests).toEqual([]);
  expect(await send(`http://localhost:${port}/`)).toEqual({ status: 204 });
});

test("the address that was checked is the one that is connected to", async () => {
  // Node asks the given function for it, and connects to nothing else.
  const answers = await new Promise((resolve) => {
    publicLookup("localhost", { all: true }, (error, found) => resolve([error?.message, found]));
  });
  expect(answers).toEqual([expect.stringMatching(/^localhost \(.+\) has no public address$/), []]);
});

test.each([
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.9.9.9",
  "169.254.169.254",
  "172.31.255.255",
  "192.168.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:10.0.0.1",
  "64:ff9b::a00:1",
  "fe80::1",
  "fd00:ec2::254",
  "ff02::1",
  "2002:a00:1::1",
  "2001:db8::1",
])("%s is not public", (address) => {
  expect(isPublic(address)).toBe(false);
});

test.each(["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111"])(
  "%s is public",
  (address) => {
    expect(isPublic(address)).toBe(true);
  },
);

test("a certificate that nothing proves is not sent to", async () => {
  const requests: string[] = [];
  const server = createTlsServer(serverTls, () => void requests.push("came"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(server);
  const { port } = server.address() as AddressInfo;
  expect(await send(`https://localhost:${port}/`)).toEqual({
    problem: expect.stringMatching(/CERT|SIGNATURE/),
  });
  expect(requests).toEqual([]);
});

test("no answer, and none in time, are problems; an answer that does not end has its status", async () => {
  const silent = await serve(() => undefined);
  const endless = await serve((_, response) => void response.writeHead(200).write("x"));
  const long = await serve(
    (_, response) => void response.writeHead(200).end("x".repeat(1_000_000)),
  );
  const within = { timeoutMs: 300 };
  expect(await send("http://127.0.0.1:1/")).toEqual({ problem: "ECONNREFUSED" });
  expect(await send(`http://127.0.0.1:${silent.port}/`, within)).toEqual({ problem: "timeout" });
  expect(await send(`http://127.0.0.1:${endless.port}/`, within)).toEqual({ status: 200 });
  expect(await send(`http://127.0.0.1:${long.port}/`)).toEqual({ status: 200 });
});

test("an answer that asks for another protocol has its status, and its connection is closed", async () => {
  let isClosed = false;
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined).on("close", () => void (isClosed = true));
    socket.once("data", () => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(server);
  const { port } = server.address() as AddressInfo;
  expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ status: 101 });
  await eventually("the connection is closed", () => isClosed);
});

test.each([true, false])(
  "a name server that does not answer is asked once at a time for a host (private addresses: %s)",
  async (allowPrivate) => {
    const asked: ((error: Error, found: []) => void)[] = [];
    const spy = vi
      .spyOn(dns, "lookup")
      .mockImplementation(
        ((_host: string, _options: object, callback: (typeof asked)[number]) =>
          void asked.push(callback)) as typeof dns.lookup,
      );
    const once = () => send("http://silent.example/", { allowPrivate, timeoutMs: 100 });
    try {
      const answers = [...(await Promise.all([once(), once()])), await once()];
      expect(answers.map(({ problem }) => problem)).toEqual(["timeout", "timeout", "timeout"]);
      expect(asked).toHaveLength(1);
      asked[0]?.(Object.assign(new Error("no such host"), { code: "ENOTFOUND" }), []);
      const next = once();
      expect(asked).toHaveLength(2);
      asked[1]?.(Object.assign(new Error("no such host"), { code: "ENOTFOUND" }), []);
      expect(await next).toEqual({ problem: "ENOTFOUND" });
    } finally {
      spy.mockRestore();
    }
  },
);

test("429 and 503 may say when to come again, in seconds or by a date; no other status may", async () => {
  let answer: [number, Record<string, string>] = [204, {}];
  const { port } = await serve((_, response) => void response.writeHead(...answer).end());
  const asked = async (status: number, headers: Record<string, string>) => {
    answer = [status, headers];
    return (await send(`http://127.0.0.1:${port}/`)).retryAfterMs;
  };
  expect(await asked(429, { "retry-after": "120" })).toBe(120_000);
  const date = "Thu, 01 Jan 2026 00:00:00 GMT";
  const later = "Thu, 01 Jan 2026 00:01:00 GMT";
  expect(await asked(503, { date, "retry-after": later })).toBe(60_000);
  for (const [status, wait] of [
    [500, "120"],
    [429, "soon"],
    [503, "-1"],
  ] as const)
    expect(await asked(status, { "retry-after": wait })).toBeUndefined();
});
