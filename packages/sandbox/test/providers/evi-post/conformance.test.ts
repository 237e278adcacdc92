// The sandbox against the fixtures transcribed from the specification (test/fixtures/evi-post/README.md).
import { afterAll, expect, test } from "vitest";
import { unzipSync } from "fflate";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import type { Sandbox, SandboxOptions } from "../../../src/sandbox.js";
import { fill, loadFixtures, matches } from "../../../../../test/harness/fixtures/fixtures.js";
import type { Fixture, Values } from "../../../../../test/harness/fixtures/fixtures.js";
import { collector } from "../../collector.js";

const fixtures = loadFixtures(
  new URL("../../../../../test/fixtures/evi-post", import.meta.url).pathname,
);
const own = fixtures.filter((fixture) => fixture["side"] !== "client");
const basic = (username: string, password = username) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

const sandboxes: Sandbox[] = [];
const inbox = await collector();
afterAll(async () => {
  await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  await inbox.close();
});

async function sandboxFor(given: Record<string, any>): Promise<Sandbox> {
  const site = given["site"] ?? { region: "Madrid" };
  const options: SandboxOptions = {
    speed: "manual",
    unprefixedRoutes: given["unprefixedRoutes"] ?? false,
    accounts: [
      { username: "owner", password: "owner", site },
      { username: "other", password: "other", site },
      { username: "cannotCancel", password: "cannotCancel", site, canCancel: false },
      { username: "notProvisioned", password: "notProvisioned", provisioned: false },
    ],
    ...(given["documentLimitBytes"] && { maxDocumentBytes: given["documentLimitBytes"] }),
  };
  const sandbox = await startSandbox(options);
  sandboxes.push(sandbox);
  return sandbox;
}

function credentials(account: string | undefined): string | undefined {
  if (account === "noAuthorization") return undefined;
  if (account === "wrongPassword") return basic("owner", "wrong");
  if (account === "notOwner") return basic("other");
  if (account === "cannotCancel" || account === "notProvisioned") return basic(account);
  return basic("owner");
}

async function post(sandbox: Sandbox, body: unknown, username: string): Promise<string> {
  const response = await fetch(`${sandbox.url}/v1/EviPost/Submit`, {
    method: "POST",
    headers: { authorization: basic(username), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { uniqueId?: string };
  if (!answer.uniqueId) throw new Error(`given.item was refused: ${JSON.stringify(answer)}`);
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
  const submission = fill(item.submission, values);
  if (item.affidavitsOnDemandEnabled) {
    submission.Options = {
      CertificationLevel: "Advanced",
      ...submission.Options,
      AffidavitsOnDemandEnabled: true,
    };
  }
  const id = await post(sandbox, submission, owner);
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

async function setUp(fixture: Fixture, sandbox: Sandbox, values: Values): Promise<void> {
  const { given } = fixture;
  const owner = given.account === "cannotCancel" ? "cannotCancel" : "owner";
  if (given.item) {
    const id = await bring(sandbox, given.item, values, owner);
    if (id) values["uniqueId"] = id;
  }
  for (const [index, item] of (given.items ?? []).entries()) {
    values[`item${index + 1}`] = await bring(sandbox, item, values, owner);
  }
  const plain = own.find((candidate) => candidate.file === "p2-4.1-submit-200.json")!;
  for (let count = 0; count < (given.itemCount ?? 0); count += 1) {
    await post(sandbox, fill(plain["request"].body), owner);
  }
}

async function send(
  sandbox: Sandbox,
  request: any,
  authorization: string | undefined,
): Promise<Response> {
  const { authorization: _basic, ...headers } = request.headers ?? {};
  const query = new URLSearchParams(request.query ?? {});
  return fetch(`${sandbox.url}${request.path}${query.size > 0 ? `?${query.toString()}` : ""}`, {
    method: request.method,
    headers: { ...headers, ...(authorization && { authorization }) },
    body: request.text ?? (request.body === undefined ? null : JSON.stringify(request.body)),
    redirect: "manual",
  });
}

/** The same request once before, answered as `given.earlier` says. */
async function earlier(
  fixture: Fixture,
  sandbox: Sandbox,
  request: any,
  values: Values,
): Promise<void> {
  const status = fixture["given"].earlier;
  if (status === undefined) return;
  const bad = { ...request, body: {} };
  if (![200, 400, 401].includes(status))
    sandbox.faults.add({ operation: "evi-post.submit", kind: "reject", status });
  const authorization = status === 401 ? basic("owner", "wrong") : basic("owner");
  const response = await send(sandbox, status === 400 ? bad : request, authorization);
  expect(response.status).toBe(status);
  const body = (await response.json()) as { uniqueId?: string };
  if (body.uniqueId) values["uniqueId"] = body.uniqueId;
}

async function check(response: Response, expected: any, values: Values): Promise<void> {
  const differences: string[] = [];
  if (response.status !== expected.status)
    differences.push(`status ${response.status}, not ${expected.status}`);
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    if (response.headers.get(name) !== value)
      differences.push(`${name}: ${response.headers.get(name)}, not ${String(value)}`);
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (expected.zip) {
    const entries = Object.entries(unzipSync(bytes)).map(([name, content]) => ({
      name,
      content: Buffer.from(content).toString("base64"),
    }));
    differences.push(...matches(expected.zip, entries, { values }));
  } else if (
    expected.body?.results?.length !== undefined &&
    !Array.isArray(expected.body.results)
  ) {
    const body = JSON.parse(Buffer.from(bytes).toString());
    expect(body.results).toHaveLength(expected.body.results.length);
    differences.push(...matches(expected.body.totalMatches, body.totalMatches, { values }));
  } else if (expected.body) {
    const body = JSON.parse(Buffer.from(bytes).toString());
    differences.push(...matches(expected.body, body, { values }));
  }
  expect(differences).toEqual([]);
}

test.each(
  own.filter((fixture) => fixture["operation"]).map((fixture) => [fixture.file, fixture] as const),
)("%s", async (_file, fixture) => {
  const values: Values = {};
  const sandbox = await sandboxFor(fixture["given"]);
  await setUp(fixture, sandbox, values);
  const request = fill(fixture["request"], values);
  await earlier(fixture, sandbox, request, values);
  await check(
    await send(sandbox, request, credentials(fixture["given"].account)),
    fixture["response"],
    values,
  );
});

test.each(
  own.filter((fixture) => fixture["event"]).map((fixture) => [fixture.file, fixture] as const),
)("%s", async (_file, fixture) => {
  const values: Values = { callback: inbox.url };
  const sandbox = await sandboxFor(fixture["given"]);
  inbox.bodies.length = 0;
  await setUp(fixture, sandbox, values);
  await sandbox.clock.advance(0);
  const posted: unknown[] = inbox.bodies;
  expect(posted.length).toBeGreaterThan(0);
  expect(matches(fixture["body"], posted.at(-1), { values: { ...values }, extra: true })).toEqual(
    [],
  );
});
