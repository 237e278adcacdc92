// What the gateway's client sends, returns and throws (P1 §4.3, §5.3, §7.2).
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { send } from "../../../src/providers/messaging-gateway/client.js";
import { errorOf } from "../evi-post/account.js";
import { CANARY, brokenCalls } from "../errors/leaks.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";
import { accountAt } from "./account.js";

let handler: Handler;
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer((...args) => handler(...args));
});
afterEach(() => server.close());
const refusal = () => errorOf(send(accountAt(server.url), { text: "hello" }));

test("the payload travels as it is, with both credentials (P1 §4.3, §5.3)", async () => {
  handler = answering({ id: "m1" });
  const payload = { clientReference: "r-1", to: ["+34600000000"], nested: { empty: null } };
  await send(accountAt(`${server.url}/test/`), payload);
  const [{ method, path, query, headers, text } = {}] = server.received;
  expect({ method, path, query }).toEqual({
    method: "POST",
    path: "/test/api/services/send",
    query: {},
  });
  expect(JSON.parse(text ?? "")).toEqual(payload);
  const { connection: _, ...others } = headers ?? {};
  expect(others).toEqual({
    authorization: `Basic ${Buffer.from("trustflow:a password").toString("base64")}`,
    "x-api-key": "an-api-key",
    "content-type": "application/json",
    "content-length": String(server.received[0]?.bytes.length),
    accept: "application/json",
    "user-agent": "trustflow",
    host: new URL(server.url).host,
  });
});

describe("a 2xx is success", () => {
  const long = "x".repeat(64 * 1024 - 2);
  test.each<[string, string, number, object]>([
    ["JSON is returned", '{"id": "m1"}', 200, { answer: { id: "m1" } }],
    ["whatever JSON", "null", 202, { answer: null }],
    ["of 64 kB at most", `"${long}"`, 200, { answer: long }],
    ["more is not kept", `"${long}x"`, 200, {}],
    ["nothing is enough", "", 204, {}],
  ])("%s", async (_, body, status, expected) => {
    handler = answering(body, status);
    expect(await send(accountAt(server.url), {})).toEqual(expected);
  });
});

describe("a refusal of P1 §7.2", () => {
  test.each([
    [401, 1, "AuthenticationFailedException"],
    [401, 9, "MissingApiKeyException"],
    [401, 9, "InvalidApiKeyException"],
  ])("%i, code %i, %s is about the account", async (status, code, type) => {
    handler = answering({ type, code, message: "…" }, status);
    const error = await refusal();
    expect(error).toMatchObject({ kind: "accessDenied", effect: "none", denies: "account" });
    expect(error).toMatchObject({ status, code: String(code), type });
  });

  test("403, code 6 is about the operation, and the error has the roles", async () => {
    const message = "role TEMPLATE_ADMIN, required USER, ADMIN";
    handler = answering({ type: "ForbiddenException", code: 6, message }, 403);
    const error = await refusal();
    expect(error).toMatchObject({ kind: "accessDenied", effect: "none", denies: "operation" });
    expect(error).toMatchObject({ status: 403, code: "6", type: "ForbiddenException" });
    expect(error.detail).toBe(message);
    expect(error.message).toBe("messaging-gateway send: answered 403 (6)");
  });
});

test.each<[number, string]>([
  [302, "unknownOutcome unknown"],
  [400, "invalidRequest none"],
  [401, "accessDenied none"],
  [403, "accessDenied none"],
  [404, "protocol none"],
  [405, "protocol none"],
  [408, "unknownOutcome unknown"],
  [409, "unknownOutcome unknown"],
  [413, "protocol none"],
  [429, "rateLimited none"],
  [500, "unknownOutcome unknown"],
  [503, "unknownOutcome unknown"],
])("a %i without an error object is %s", async (status, expected) => {
  handler = answering("<html>", status);
  const error = await refusal();
  expect(`${error.kind} ${error.effect}`).toBe(expected);
  expect(error).toMatchObject({ status, detail: "<html>" });
});

test("429 says when to come back", async () => {
  handler = answering("", 429, { "retry-after": "7" });
  expect(await refusal()).toMatchObject({ kind: "rateLimited", retryAfterMs: 7000 });
});

test("an error object of other types keeps what it can", async () => {
  handler = answering({ type: 7, code: "six", message: "read me" }, 400);
  const error = await refusal();
  expect(error).toMatchObject({ kind: "invalidRequest", detail: "read me" });
  expect([error.code, error.type]).toEqual([undefined, undefined]);
});

test("send leaks nothing", async () => {
  const answer = JSON.stringify({ type: CANARY, code: CANARY, message: CANARY });
  const credentials = { password: new Secret(CANARY), apiKey: new Secret("canary") };
  const broken = await brokenCalls(answer, (baseUrl) =>
    send(accountAt(baseUrl, { timeoutMs: 300, ...credentials }), { [CANARY]: CANARY }),
  );
  expect(broken.length).toBeGreaterThan(14);
  expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
});

test.each([400, 401, 500])("neither credential comes back with a %i", async (status) => {
  handler = answering({ message: "an-api-key of a password is unknown" }, status);
  expect((await refusal()).detail).toBe("[secret] of [secret] is unknown");
});

test("nor do they with the answer, which goes into the result", async () => {
  handler = ({ headers }, response) => void response.end(JSON.stringify({ id: 1, headers }));
  const { answer } = await send(accountAt(server.url), { to: "x" });
  expect(answer).toMatchObject({
    id: 1,
    headers: { authorization: "Basic [secret]", "x-api-key": "[secret]" },
  });
});

test("the provider's words are cut, however many they are", async () => {
  handler = answering({ type: "X", code: 1, message: "no ".repeat(1_000_000) }, 401);
  expect(Buffer.byteLength((await refusal()).detail ?? "")).toBe(500);
});
