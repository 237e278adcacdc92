// The sandbox against the fixtures transcribed from the specification (test/fixtures/evi-post/README.md).
import { afterAll, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import type { Sandbox } from "../../../src/sandbox.js";
import { fill, fixturesOf, matches } from "../../../../../test/harness/fixtures/fixtures.js";
import type { Fixture, Values } from "../../../../../test/harness/fixtures/fixtures.js";
import { basic, submission } from "../../caller.js";
import { collector } from "../../collector.js";
import { authorizationOf, differences, exchange, submitBefore } from "../../exchange.js";

const sandboxes = new Map<string, Sandbox>();
const inbox = await collector();
afterAll(async () => {
  for (const sandbox of sandboxes.values()) await sandbox.close();
  await inbox.close();
});

/** An empty one with these settings. */
async function sandboxFor({
  site = { region: "Madrid" },
  unprefixedRoutes = false,
  documentLimitBytes: maxDocumentBytes,
}: Record<string, any>): Promise<Sandbox> {
  const key = JSON.stringify([site, unprefixedRoutes, maxDocumentBytes]);
  const sandbox =
    sandboxes.get(key) ??
    (await startSandbox({
      ...{ speed: "manual", unprefixedRoutes, ...(maxDocumentBytes && { maxDocumentBytes }) },
      accounts: [
        { username: "owner", password: "owner", site },
        { username: "notOwner", password: "notOwner", site },
        { username: "cannotCancel", password: "cannotCancel", site, canCancel: false },
        { username: "notProvisioned", password: "notProvisioned", provisioned: false },
      ],
    }));
  sandboxes.set(key, sandbox);
  await sandboxControl(sandbox.url).reset();
  return sandbox;
}

async function post(sandbox: Sandbox, body: unknown, username: string): Promise<string> {
  const headers = { authorization: basic(username), "content-type": "application/json" };
  const request = { method: "POST", path: "/v1/EviPost/Submit", headers, body } as const;
  const { body: answer, text } = await exchange(sandbox, request);
  if (!answer.uniqueId) throw new Error(`given.item was refused: ${text}`);
  return answer.uniqueId;
}

/** Brings one communication into being, as `given.item` says, and learns its ids. */
async function bring(
  sandbox: Sandbox,
  item: any,
  values: Values,
  owner: string,
): Promise<string | undefined> {
  if (item.exists === false) return undefined;
  const control = sandboxControl(sandbox.url);
  const body = fill(item.submission, values);
  if (item.affidavitsOnDemandEnabled) {
    body.Options = {
      CertificationLevel: "Advanced",
      ...body.Options,
      AffidavitsOnDemandEnabled: true,
    };
  }
  const id = await post(sandbox, body, owner);
  if (item.state !== "Submitted") {
    await control.move(id, { state: item.state, ...(item.outcome && { outcome: item.outcome }) });
  }
  for (let index = 1; index <= (item.affidavits ?? 0); index += 1) {
    const requestId =
      item.onDemand && index === 1 ? (values["requestId"] ??= crypto.randomUUID()) : undefined;
    const published = await control.publishAffidavit(
      id,
      requestId ? { requestId: requestId as string } : {},
    );
    values[`affidavit${index}`] = published.id;
    if (item.regenerated) await control.publishAffidavit(id, { regenerates: published.id });
  }
  return id;
}

/** The sandbox as `given` says, and the values of what is in it. */
async function setUp({ given }: Fixture, values: Values): Promise<Sandbox> {
  const sandbox = await sandboxFor(given);
  const owner = given.account === "cannotCancel" ? "cannotCancel" : "owner";
  if (given.item) {
    const id = await bring(sandbox, given.item, values, owner);
    if (id) values["uniqueId"] = id;
  }
  for (const [index, item] of (given.items ?? []).entries()) {
    values[`item${index + 1}`] = await bring(sandbox, item, values, owner);
  }
  for (let count = 0; count < (given.itemCount ?? 0); count += 1)
    await post(sandbox, submission(), owner);
  return sandbox;
}

test.each(fixturesOf("sandbox", "evi-post", "operation"))("%s", async (_, fixture) => {
  const values: Values = { basic: authorizationOf(fixture["given"].account, "owner") };
  const sandbox = await setUp(fixture, values);
  expect(await submitBefore(sandbox, fixture, "evi-post.submit", values)).toEqual([]);
  expect(await differences(sandbox, fixture, values)).toEqual([]);
});

test.each(fixturesOf("sandbox", "evi-post", "event"))("%s", async (_, fixture) => {
  const values: Values = { callback: inbox.url };
  inbox.bodies.length = 0;
  const sandbox = await setUp(fixture, values);
  await sandbox.clock.advance(0);
  const posted: unknown[] = inbox.bodies;
  expect(posted.length).toBeGreaterThan(0);
  expect(matches(fixture["body"], posted.at(-1), { values, extra: true })).toEqual([]);
});
