// What the one-shot client sends, and how it reads the answers of signing (P1 §4.4; shapes are assumed: not shown).
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plainText } from "../../../src/contracts/shared/text.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/one-shot-signature/client.js";
import { inMemory } from "../memory-keep.js";
import { errorOf } from "../evi-post/account.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";
import { accountAt, calls } from "./account.js";

let handler: Handler;
let server: ProviderServer;
beforeEach(async () => {
  handler = answering({});
  server = await startProviderServer((...args) => handler(...args));
});
afterEach(() => server.close());

const api = "/oneshot/api/v1";
const video = `${api}/identity-video/r1`;

test.each([
  ["listTokens", "GET", `${api}/tokens`, undefined],
  ["createToken", "POST", `${api}/tokens`, undefined],
  ["create", "POST", `${api}/create`, { reference: "r1" }],
  ["contract", "GET", `${api}/contract/r1`, undefined],
  ["otp", "POST", `${api}/otp/r1`, {}],
  ["sign", "POST", `${api}/sign/r1`, { otp: "482913" }],
  [
    "uploadHash",
    "POST",
    `${api}/hash/r1`,
    { name: "a.pdf", algorithm: "SHA-256", hash: "ab".repeat(32) },
  ],
  ["retrieve", "GET", `${api}/document/r1`, undefined],
  ["deleteDocuments", "DELETE", `${api}/document/r1`, undefined],
  ["createVideo", "POST", video, {}],
  ["approveVideo", "POST", `${video}/approve`, {}],
  ["cancelVideo", "POST", `${video}/cancel`, {}],
  ["getVideo", "GET", video, undefined],
  ["updateVideo", "PATCH", video, { note: "n" }],
] as const)("%s is one %s %s", async (operation, method, path, body) => {
  await calls[operation](accountAt(server.url), "r1").catch(() => undefined);
  expect(server.received).toHaveLength(1);
  const [request] = server.received;
  expect(request).toMatchObject({ method, path, query: {} });
  expect(request?.headers.authorization).toBe("Token ra-operator");
  expect(request?.text === "" ? undefined : JSON.parse(request!.text)).toEqual(body);
});

test("header, prefix and paths are the account's (P1 §5.4)", async () => {
  const uploadHash = "/v2/{request_pk}/hashes/{request_pk}";
  const paths = { ...accountAt(server.url).paths, uploadHash };
  const token = new Secret("t");
  const changes = { token, tokenHeader: "X-RA-Token", tokenPrefix: "", paths };
  await calls.uploadHash(accountAt(server.url, changes), "r1");
  expect(server.received[0]?.path).toBe("/v2/r1/hashes/r1");
  expect(server.received[0]?.headers).toMatchObject({ "x-ra-token": "t" });
  expect(server.received[0]?.headers.authorization).toBeUndefined();
});

test("a request_pk stays one segment of the path", async () => {
  await calls.otp(accountAt(`${server.url}/pre/`), "a/b?c=1#d%20é$&");
  expect(server.received[0]?.path).toBe(
    "/pre/oneshot/api/v1/otp/a%2Fb%3Fc%3D1%23d%2520%C3%A9%24%26",
  );
});

test.each(["", ".", "..", "\ud800"])("the request_pk %j is never sent", async (requestPk) => {
  const error = await errorOf(calls.sign(accountAt(server.url), requestPk));
  expect(error).toMatchObject({ kind: "protocol", effect: "none", operation: "sign" });
  expect(server.received).toEqual([]);
});

describe("create", () => {
  test("the payload is sent untouched", async () => {
    handler = answering({ request_pk: "r1" });
    const payload = { reference: "i1", mobile: "+39", nested: { b: [1, null], a: "" } };
    await client.create(accountAt(server.url), payload);
    expect(server.received[0]?.text).toBe(JSON.stringify(payload));
  });

  test.each([
    ["a text", { request_pk: "r1", more: 1 }, "r1"],
    ["a number", { request_pk: 17 }, "17"],
  ])("request_pk may be %s", async (_, body, requestPk) => {
    handler = answering(body, 201);
    expect(await client.create(accountAt(server.url), {})).toEqual({ requestPk });
  });

  test.each([
    ["elsewhere", { data: { request_pk: "r-1" } }, "r-1"],
    ["in an answer that was cut", '{"request_pk": "r-1", "sta', "r-1"],
    ["as a number in a list", [{ request_pk: 17 }], "17"],
  ])("a broken 200 that shows the id %s keeps it", async (_, body, reference) => {
    handler = answering(body);
    const error = await errorOf(client.create(accountAt(server.url), {}));
    expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown", reference });
  });

  test.each([
    ["two ids", [{ request_pk: "r1" }, { request_pk: "r2" }]],
    ["an id that was cut itself", '{"request_pk":"r-1'],
    ["a number that was cut", '{"request_pk":17'],
    ["no id", { request_pk: null }],
    ["an empty id", { request_pk: "" }],
    ["nothing", ""],
  ])("a 200 that shows %s leaves the outcome unknown", async (_, body) => {
    handler = answering(body);
    const error = await errorOf(client.create(accountAt(server.url), {}));
    expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown" });
    expect(error.reference).toBeUndefined();
  });
});

describe("contract", () => {
  const bytes = Buffer.concat([Buffer.from("%PDF-1.4\n"), Buffer.from([0, 255, 254])]);
  const html = Buffer.from("<p>terms</p>");
  test.each([
    ["application/pdf", bytes, "application/pdf"],
    ["Application/PDF; charset=binary", bytes, "application/pdf"],
    ["text/plain; charset=utf-8", html, "text/plain"],
    ["application/xml", Buffer.from("<contract/>"), "application/xml"],
    ["application/json", Buffer.from('{"terms":[]}'), "application/json"],
    ["", bytes, "application/pdf"],
    ["", html, "application/octet-stream"],
  ])("of the type %j is kept byte by byte", async (type, body, mediaType) => {
    handler = answering(body, 200, type === "" ? {} : { "content-type": type });
    const { file, ...shown } = await client.contract(accountAt(server.url), "r1", inMemory);
    expect(shown).toEqual({ mediaType });
    expect(await buffer(file.pieces())).toEqual(body);
  });

  test("an empty one is not there yet", async () => {
    handler = answering("");
    const error = await errorOf(client.contract(accountAt(server.url), "r1", inMemory));
    expect(error).toMatchObject({ kind: "notVisibleYet", effect: "none" });
  });

  test.each([
    ["text/html; charset=utf-8", "<p>Log in</p>", "text/html instead of the contract"],
    ["", "\n<!DOCTYPE html><title>Log in</title>", "a web page instead of the contract"],
    ["application/octet-stream", "<HTML>", "a web page instead of the contract"],
    [
      "application/json",
      '{"code":"session","message":"log in"}',
      "an error instead of the contract",
    ],
    ["application/problem+json", '{"detail":"log in"}', "an error instead of the contract"],
  ])("of the type %j with %j is none, and is refused", async (type, body, problem) => {
    handler = answering(body, 200, type === "" ? {} : { "content-type": type });
    const error = await errorOf(client.contract(accountAt(server.url), "r1", inMemory));
    const detail = plainText(body);
    expect(error).toMatchObject({ kind: "protocol", effect: "none", status: 200, detail });
    expect(error.message).toContain(problem);
  });

  test("a PDF that is none is refused", async () => {
    handler = answering(html, 200, { "content-type": "application/pdf" });
    const error = await errorOf(client.contract(accountAt(server.url), "r1", inMemory));
    expect(error).toMatchObject({ kind: "protocol", effect: "none" });
  });
});

describe("sign", () => {
  test.each(["signed", "signing"])("answers %s", async (state) => {
    handler = answering({ state, more: 1 });
    expect(await calls.sign(accountAt(server.url), "r1")).toEqual({ state });
  });

  test.each([{}, { state: "done" }, "signed", ""])("a 200 with %j claims nothing", async (body) => {
    handler = answering(body);
    const error = await errorOf(calls.sign(accountAt(server.url), "r1"));
    expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown" });
  });
});

describe("tokens", () => {
  test("are listed and created", async () => {
    handler = answering([{ token: "…a", more: 1 }, { token: "…b" }]);
    const listed = await client.listTokens(accountAt(server.url));
    expect(listed).toEqual([{ token: "…a" }, { token: "…b" }]);
    handler = answering({ token: "new" });
    expect(await client.createToken(accountAt(server.url))).toEqual({ token: "new" });
  });

  test("a list that is none is protocol, a token that is none an unknown outcome", async () => {
    handler = answering({ tokens: [] });
    const listed = await errorOf(client.listTokens(accountAt(server.url)));
    expect(listed).toMatchObject({ kind: "protocol", effect: "none" });
    const created = await errorOf(client.createToken(accountAt(server.url)));
    expect(created).toMatchObject({ kind: "unknownOutcome", effect: "unknown" });
  });
});

test("the state of an identity video is the provider's word", async () => {
  handler = answering({ state: "approved", other: 1 });
  expect(await client.getVideo(accountAt(server.url), "r1")).toEqual({ state: "approved" });
  handler = answering({});
  const error = await errorOf(client.getVideo(accountAt(server.url), "r1"));
  expect(error).toMatchObject({ kind: "protocol", effect: "none" });
});

test("an abort reaches the call", async () => {
  const abort = new AbortController();
  handler = () => abort.abort();
  const call = client.approveVideo(accountAt(server.url), { requestPk: "r1" }, abort.signal);
  expect(await errorOf(call)).toMatchObject({ kind: "unknownOutcome", code: "ABORTED" });
});
