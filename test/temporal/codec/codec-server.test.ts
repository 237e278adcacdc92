import { request } from "node:http";
import { defaultPayloadConverter } from "@temporalio/common";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KeyRing } from "../../../src/crypto/key-ring.js";
import { EncryptionCodec } from "../../../src/temporal/codec/codec.js";
import {
  startCodecServer,
  type CodecServerOptions,
} from "../../../src/temporal/codec/codec-server.js";
import { writePayloads } from "../../../src/temporal/codec/payload-json.js";
import { freshRing } from "../support.js";

const token = "a-token-of-some-length";
const origin = "http://localhost:8233";
const bearer = { authorization: `Bearer ${token}` };
let ring: KeyRing;
let lines: { message: string; details: object | undefined }[];
let server: Awaited<ReturnType<typeof startCodecServer>>;

beforeEach(async () => {
  ring = freshRing();
  lines = [];
  server = await start();
});
afterEach(() => server.close());

function start(more: Partial<CodecServerOptions> = {}) {
  const logger = {
    info: (message: string, details?: object) => void lines.push({ message, details }),
  };
  return startCodecServer({
    ring,
    host: "127.0.0.1",
    port: 0,
    token,
    corsOrigins: [origin],
    maxBodyBytes: 10_000,
    logger,
    ...more,
  });
}

function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  url = server.url,
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(url + path, {
    method: "POST",
    body: text,
    headers: { "content-type": "application/json", ...headers },
  });
}

type Json = { metadata: Record<string, string>; data: string };
const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString("base64");
const plain = (value: unknown): Json => ({
  metadata: { encoding: base64("json/plain") },
  data: base64(JSON.stringify(value)),
});
const payloadsOf = async (response: Response): Promise<Json[]> =>
  ((await response.json()) as { payloads: Json[] }).payloads;
const valueOf = (payload: Json | undefined): unknown =>
  JSON.parse(Buffer.from(payload?.data ?? "", "base64").toString());

async function encrypted(value: unknown, by: KeyRing = ring): Promise<Json> {
  const payload = defaultPayloadConverter.toPayload(value);
  const encoded = await new EncryptionCodec(by).encode([payload]);
  return (JSON.parse(writePayloads(encoded)) as { payloads: [Json] }).payloads[0];
}

test("what it encodes it decodes, and the codec reads it too", async () => {
  const encoded = await payloadsOf(
    await post("/encode", { payloads: [plain("one"), plain({ two: 2 })] }, bearer),
  );
  expect(Buffer.from(encoded[0]?.metadata["encoding"] ?? "", "base64").toString()).toBe(
    "binary/encrypted",
  );
  const decoded = await post("/decode", { payloads: encoded }, bearer);
  expect(decoded.headers.get("content-type")).toBe("application/json");
  expect(decoded.headers.get("cache-control")).toBe("no-store");
  expect(await payloadsOf(decoded)).toEqual([plain("one"), plain({ two: 2 })]);
  expect(await payloadsOf(await post("/decode", {}, bearer))).toEqual([]);
  const empty = { payloads: [{}, { metadata: null, data: null }] };
  expect(await payloadsOf(await post("/decode", empty, bearer))).toHaveLength(2);
});

test("the token works as a bearer token, at any depth, and as the path before the operation", async () => {
  const body = { payloads: [await encrypted("x")] };
  for (const response of [
    await post("/decode", body, bearer),
    await post("/some/where/decode?preserveStorageRefs=true", body, bearer),
    await post(`/${token}/decode`, body),
  ]) {
    expect((await payloadsOf(response)).map(valueOf)).toEqual(["x"]);
  }
});

test("a wrong or missing token is answered 401 before the body is looked at", async () => {
  for (const response of [
    await post("/decode", "{"),
    await post(`/${token}x/decode`, "{"),
    await post(`/${token}/decode`, "{", { authorization: "Bearer other" }),
    await post("/decode", "{", { authorization: `Basic ${token}` }),
    await post("/decode", "{", { authorization: `Basic Bearer ${token}` }),
    await post(`/${token}/sub/decode`, "{"),
  ]) {
    expect(response.status).toBe(401);
  }
});

test("the preflight of the Web UI's own origin is allowed, with the headers that it sends", async () => {
  const response = await fetch(`${server.url}/${token}/decode`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,x-namespace",
    },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get("access-control-allow-origin")).toBe(origin);
  expect(response.headers.get("access-control-allow-headers")).toContain("x-namespace");
  expect(response.headers.get("access-control-allow-methods")).toBe("POST");
  expect(response.headers.get("access-control-allow-credentials")).toBe("true");
  expect(response.headers.get("access-control-max-age")).toBe("600");
  expect(response.headers.get("vary")).toBe("origin");
});

test.each([
  "http://localhost:8234",
  "https://localhost:8233",
  "http://localhost:8233.example.org",
  "null",
])("another origin is refused, preflight and call, even with the token: %s", async (other) => {
  const preflight = await fetch(`${server.url}/decode`, {
    method: "OPTIONS",
    headers: { origin: other },
  });
  const call = await post(
    "/decode",
    { payloads: [await encrypted("x")] },
    { ...bearer, origin: other },
  );
  for (const response of [preflight, call]) {
    expect(response.status).toBe(403);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(await response.text()).not.toContain("payloads");
  }
});

test("a body over the limit is answered 413, declared or streamed", async () => {
  const large = JSON.stringify({ payloads: [plain("x".repeat(200_000))] });
  expect((await post("/decode", large, bearer)).status).toBe(413);
  expect((await post("/decode", "{}".padEnd(10_000), bearer)).status).toBe(200);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const call = request(
      `${server.url}/decode`,
      { method: "POST", headers: bearer },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    call.on("error", reject);
    for (let at = 0; at < large.length; at += 50_000) call.write(large.slice(at, at + 50_000));
    call.end();
  });
  expect(status).toBe(413);
});

test.each([
  ["", "not JSON"],
  ["{", "not JSON"],
  ["[]", "expected an array"],
  ['{"payloads":{}}', "expected an array"],
  ['{"payloads":[{"data":"AA=="},5]}', "payloads[1]"],
  ['{"payloads":[{"data":5}]}', "payloads[0]"],
  ['{"payloads":[null]}', "payloads[0]"],
  ['{"payloads":[{"data":"%"}]}', "cannot be read"],
  ['{"payloads":[{"metadata":{"encoding":"AA==","other":{}},"data":""}]}', "payloads[0]"],
])("garbage is answered 400 with the place: %s", async (body, problem) => {
  const response = await post("/decode", body, { ...bearer, origin });
  expect(response.status).toBe(400);
  expect(response.headers.get("access-control-allow-origin")).toBe(origin);
  expect(((await response.json()) as { error: string }).error).toContain(problem);
});

test("a payload that cannot be opened becomes a text that says why, and the others stay readable", async () => {
  const damaged = await encrypted("damaged");
  const body = {
    payloads: [
      await encrypted("one"),
      await encrypted("x", freshRing("gone")),
      { ...damaged, data: damaged.data.slice(0, 40) },
      plain("two"),
    ],
  };
  const response = await post("/decode", body, bearer);
  expect(response.status).toBe(200);
  const shown = await payloadsOf(response);
  for (const { metadata } of shown) expect(metadata).toEqual(plain("").metadata);
  expect(shown.map(valueOf)).toEqual([
    "one",
    "[cannot be decrypted: the key ring has no key 'gone']",
    expect.stringContaining("[cannot be decrypted: the ciphertext"),
    "two",
  ]);
  expect(lines).toEqual([
    {
      message: "codec call",
      details: { operation: "decode", namespace: "", payloads: 4, failed: 2 },
    },
  ]);
});

test("each call leaves a line with namespace and count, and neither token nor content", async () => {
  await post(
    `/${token}/decode`,
    { payloads: [await encrypted("canary"), plain("canary")] },
    { "x-namespace": "letters".padEnd(300, "!") },
  );
  await post("/decode", "canary", { authorization: "Bearer canary" });
  expect(lines).toEqual([
    {
      message: "codec call",
      details: {
        operation: "decode",
        namespace: "letters".padEnd(255, "!"),
        payloads: 2,
        failed: 0,
      },
    },
    { message: "codec call refused", details: { status: 401 } },
  ]);
});

test("other paths and methods do not exist", async () => {
  expect((await post("/download", {}, bearer)).status).toBe(404);
  expect((await post("/", {}, bearer)).status).toBe(404);
  expect((await fetch(`${server.url}/decode`, { headers: bearer })).status).toBe(405);
});

test("a short token, an origin with a path and a taken port are refused at start", async () => {
  for (const bad of ["fifteen-letters", `${token} x`])
    await expect(start({ token: bad })).rejects.toThrow("codecServer.token: must be at least 16");
  await (await start({ token: "sixteen-letters." })).close();
  await expect(start({ corsOrigins: ["*"] })).rejects.toThrow('corsOrigins: "*"');
  await expect(start({ corsOrigins: [`${origin}/`] })).rejects.toThrow("scheme://host[:port]");
  await expect(start({ port: Number(new URL(server.url).port) })).rejects.toThrow("EADDRINUSE");
});

test("with a ring to read alone it decodes, and encodes nothing", async () => {
  const reader = await start({ isReadOnly: true, logger: undefined as never });
  try {
    const body = { payloads: [await encrypted("readable")] };
    const decoded = await post("/decode", body, bearer, reader.url);
    expect(await payloadsOf(decoded)).toEqual([plain("readable")]);
    const refused = await post("/encode", { payloads: [plain("x")] }, bearer, reader.url);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("keys.codecRead");
  } finally {
    await reader.close();
  }
  await expect(post("/decode", {}, bearer, reader.url)).rejects.toThrow("fetch failed");
});
