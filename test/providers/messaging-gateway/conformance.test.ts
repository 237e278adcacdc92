// The client against the fixtures transcribed from the specification: what it sends, what it returns, what it throws.
import { expect, test } from "vitest";
import { send } from "../../../src/providers/messaging-gateway/client.js";
import { fill, fixturesOf } from "../../harness/fixtures/fixtures.js";
import type { Values } from "../../harness/fixtures/fixtures.js";
import { errorOf } from "../evi-post/account.js";
import { requestDifferences } from "../fixture-request.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { accountAt } from "./account.js";

const server = serverOfEachTest();

test.each(fixturesOf("client", "messaging-gateway"))("%s", async (_, fixture) => {
  const values: Values = {};
  const request = fill(fixture["request"], values);
  const { status, headers, body } = fill(fixture["response"], values);
  server.answer = answering(body, status, headers);
  const call = send(accountAt(server.url), request.body);
  if (status === 200) expect(await call).toEqual({ answer: body });
  else {
    const { type, code, message } = body;
    const denies = status === 403 ? "operation" : "account";
    const error = await errorOf(call);
    expect(error).toMatchObject({ kind: "accessDenied", effect: "none", denies, status });
    expect(error).toMatchObject({ type, code: String(code), detail: message });
  }
  // Our credentials are always there, and our own: what the fixture lacks or says about them is the provider's to judge.
  const { authorization: _a, "x-api-key": _k, ...others } = fixture["request"].headers;
  const expected = { ...fixture["request"], headers: others };
  expect(server.received).toHaveLength(1);
  expect(await requestDifferences(expected, server.received[0]!, values)).toEqual([]);
  expect(server.received[0]?.headers).toMatchObject({
    authorization: expect.stringMatching(/^Basic [\w+/]+=*$/),
    "x-api-key": "an-api-key",
  });
});
