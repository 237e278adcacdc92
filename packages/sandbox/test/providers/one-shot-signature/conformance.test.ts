// The sandbox against the fixtures transcribed from P1 §1.4, 4.4, 5.4, 6.2 (test/fixtures/one-shot-signature/README.md).
import { afterAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import { fixturesOf, matches, type Values } from "../../../../../test/harness/fixtures/fixtures.js";
import { MINUTE } from "../../caller.js";
import { collector } from "../../collector.js";
import { differences } from "../../exchange.js";
import { signer } from "./signer.js";

const inbox = await collector();
const sandbox = await startSandbox({
  speed: "manual",
  accounts: [
    { username: "owner", password: "owner", webhookUrl: inbox.url },
    { username: "other", password: "other" },
    { username: "notProvisioned", password: "notProvisioned", provisioned: false },
  ],
});
beforeEach(() => sandboxControl(sandbox.url).reset());
afterAll(async () => {
  await sandbox.close();
  await inbox.close();
});

const tokens: Record<string, string> = {
  ok: "owner-token",
  notOwner: "other-token",
  notProvisioned: "notProvisioned-token",
  wrongToken: "nobody-token",
};

test.each(fixturesOf("sandbox", "one-shot-signature", "operation"))("%s", async (_, fixture) => {
  const { account, request } = fixture["given"];
  const values: Values = { token: tokens[account] };
  if (request) {
    const { id, otp } = await signer(sandbox, "owner").bring(request);
    Object.assign(values, { requestPk: id, otp });
  }
  expect(await differences(sandbox, fixture, values)).toEqual([]);
});

test.each(fixturesOf("sandbox", "one-shot-signature", "event"))("%s", async (_, fixture) => {
  const { request, until } = fixture["given"];
  const caller = signer(sandbox, "owner");
  const { id, otp } = await caller.bring(request);
  if (until === "approved") await caller.send("POST", `identity-video/${id}/approve`, { body: {} });
  else await caller.sign(id, otp!);
  await sandbox.clock.advance(30 * MINUTE);
  const posted = inbox.bodies.filter((body) => body.request_pk === id);
  expect(posted).toHaveLength(1);
  expect(matches(fixture["body"], posted[0], { values: { requestPk: id } })).toEqual([]);
});
