// The simulated messaging gateway against the fixtures transcribed from the specification.
import { afterAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import { fixturesOf, type Values } from "../../../../../test/harness/fixtures/fixtures.js";
import { basic } from "../../caller.js";
import { authorizationOf, differences } from "../../exchange.js";

const fixtures = fixturesOf("sandbox", "messaging-gateway");
const sandbox = await startSandbox({ speed: "manual" });
const control = sandboxControl(sandbox.url);
beforeEach(() => control.reset());
afterAll(() => sandbox.close());

test.each(fixtures)("%s", async (_, fixture) => {
  const { account, roles = ["USER"] } = fixture["given"];
  await control.putAccount("sandbox", { apiKey: "a key", roles });
  const values: Values = { apiKey: "a key", basic: authorizationOf(account) };
  expect(await differences(sandbox, fixture, values)).toEqual([]);
});

function send(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${sandbox.url}/api/services/send`, {
    method: "POST",
    headers: {
      authorization: basic("colleague"),
      "x-api-key": "colleague-api-key",
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

test("a message stands in ledger, outbox, items and requests under the caller's reference", async () => {
  const { id } = (await (
    await send({ clientReference: "order-7", to: "ada@example.com", text: "Ready" })
  ).json()) as { id: string };
  expect(await control.ledger("order-7")).toMatchObject({
    effects: [{ operation: "messaging-gateway.send", itemId: id, account: "colleague" }],
    duplicates: [],
  });
  expect(await control.messages("order-7")).toMatchObject([
    { provider: "messaging-gateway", channel: "EMAIL", to: "ada@example.com", text: "Ready" },
  ]);
  expect(await control.items({ intent: "order-7" })).toMatchObject({
    items: [{ id, state: "accepted" }],
  });
  expect((await control.requests()).newest.at(-1)).toMatchObject({
    operation: "messaging-gateway.send",
    intent: "order-7",
    status: 200,
  });
});

test("a key of another account is invalid (P1 §5.3)", async () => {
  const answer = await send({}, { "x-api-key": "elsewhere-api-key" });
  expect(await answer.json()).toMatchObject({ type: "InvalidApiKeyException", code: 9 });
});

test("a fault has a code where it is given (P1 §7.2)", async () => {
  await control.addFault({ operation: "messaging-gateway.send", kind: "code", code: 33 });
  const coded = await send({});
  expect([coded.status, await coded.json()]).toMatchObject([500, { code: 33 }]);
});

test("a message is neither moved nor has affidavits", async () => {
  const { id } = (await (await send({})).json()) as { id: string };
  await expect(control.move(id, { state: "Sent" })).rejects.toThrow(/400 .*are not moved/);
  await expect(control.publishAffidavit(id)).rejects.toThrow(/400 .*have no affidavits/);
});
