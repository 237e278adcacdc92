// What the gateway's client sends, returns and throws (P1 §4.3, §5.3, §7.2).
import { describe, expect, test } from "vitest";
import { send } from "../../../src/providers/messaging-gateway/client.js";
import { errorOf } from "../evi-post/account.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { accountAt } from "./account.js";

const server = serverOfEachTest();
const refusal = () => errorOf(send(accountAt(server.url), { text: "hello" }));

test("the payload travels as it is, with both credentials (P1 §4.3, §5.3)", async () => {
  server.answer = answering({ id: "m1" });
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
    "accept-encoding": "identity",
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
    server.answer = answering(body, status);
    expect(await send(accountAt(server.url), {})).toEqual(expected);
  });
});

test("an error object of other types keeps what it can", async () => {
  server.answer = answering({ type: 7, code: "six", message: "read me" }, 400);
  const error = await refusal();
  expect(error).toMatchObject({ kind: "invalidRequest", detail: "read me" });
  expect([error.code, error.type]).toEqual([undefined, undefined]);
});

test("no credential comes back with the answer, which goes into the result", async () => {
  server.answer = ({ headers }, response) => void response.end(JSON.stringify({ id: 1, headers }));
  const { answer } = await send(accountAt(server.url), { to: "x" });
  expect(answer).toMatchObject({
    id: 1,
    headers: { authorization: "Basic [secret]", "x-api-key": "[secret]" },
  });
});
