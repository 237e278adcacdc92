// The sandbox against the fixtures transcribed from P1 §2.7, 4.2, 5.2, 6.1 (test/fixtures/video-identification/README.md).
import { afterAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import {
  fixturesOf,
  matches,
  type Fixture,
  type Values,
} from "../../../../../test/harness/fixtures/fixtures.js";
import { DAY, MINUTE } from "../../caller.js";
import { collector } from "../../collector.js";
import { differences } from "../../exchange.js";
import { videoCaller } from "./caller.js";

const inbox = await collector();
const sandbox = await startSandbox({
  speed: "manual",
  accounts: [
    { username: "owner", password: "owner", closeEventUrl: inbox.url },
    { username: "other", password: "other" },
    { username: "notProvisioned", password: "notProvisioned", provisioned: false },
  ],
});
beforeEach(async () => {
  await sandboxControl(sandbox.url).reset();
  inbox.bodies.length = 0;
  inbox.statuses.splice(0, Infinity, 200);
});
afterAll(async () => {
  await sandbox.close();
  await inbox.close();
});

const keys: Record<string, string> = {
  notOwner: "other-api-key",
  notProvisioned: "notProvisioned-api-key",
  wrongKey: "nobody-api-key",
};

/** Brings the sandbox into `given`; returns what the fixture names. */
async function brought({ given, request }: Fixture): Promise<Values> {
  const caller = videoCaller(sandbox, "owner");
  for (const [processId, email] of Object.entries<string>(given.alerts ?? {}))
    await caller.register(processId, email);
  const values: Values = { apiKey: keys[given.account] ?? "owner-api-key" };
  if (!given.conference) return values;
  const idConference = await caller.bring(given.conference);
  const needsToken = JSON.stringify(request ?? {}).includes(":token}}");
  const token = needsToken ? await tokenFor(given, idConference) : undefined;
  return { ...values, idConference, ...(token !== undefined && { token }) };
}

async function tokenFor({ account, token }: any, idConference: string): Promise<string> {
  const caller = videoCaller(sandbox, "owner");
  if (token === "event") return inbox.bodies.at(-1).message.token;
  if (account === "foreignToken") return caller.tokenOf(await caller.bring());
  const minted = await caller.tokenOf(idConference);
  if (account === "expiredToken") await sandbox.clock.advance(30 * MINUTE);
  return minted;
}

test.each(fixturesOf("sandbox", "video-identification", "operation"))("%s", async (_, fixture) => {
  const values = await brought(fixture);
  expect(await differences(sandbox, fixture, values)).toEqual([]);
  if (!fixture["registered"]) return;
  const { items } = await sandboxControl(sandbox.url).items();
  const ids = items.map(({ id }) => id).filter((id) => id.startsWith("alert:"));
  const registered = await Promise.all(ids.map((id) => sandboxControl(sandbox.url).item(id)));
  const found = registered.map(({ processId, emails }: any) => [processId, emails]);
  expect(Object.fromEntries(found)).toEqual(fixture["registered"]);
});

test.each(fixturesOf("sandbox", "video-identification", "event"))("%s", async (_, fixture) => {
  const { idConference } = await brought(fixture);
  const posted = inbox.bodies.filter((body) => body.idConference === idConference);
  expect(posted).toHaveLength(1);
  expect(matches(fixture["body"], posted[0], { values: { idConference } })).toEqual([]);
});

test.each(fixturesOf("sandbox", "video-identification", "alert"))("%s", async (_, fixture) => {
  inbox.statuses.splice(0, Infinity, 500);
  const { idConference } = await brought(fixture);
  expect(sandbox.messages()).toEqual([]);
  for (const ms of [MINUTE, 5 * MINUTE, 15 * MINUTE, DAY]) await sandbox.clock.advance(ms);
  const sent = sandbox.messages();
  expect(sent.map(({ to }) => to)).toEqual(fixture["alert"]);
  expect(sent.every(({ text }) => text.includes(String(idConference)))).toBe(true);
});
