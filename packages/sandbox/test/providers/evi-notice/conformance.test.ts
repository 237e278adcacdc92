// The sandbox against the fixtures transcribed from the specification (test/fixtures/evi-notice/README.md).
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox, type Sandbox } from "../../../src/sandbox.js";
import {
  fill,
  loadFixtures,
  matches,
  type Values,
} from "../../../../../test/harness/fixtures/fixtures.js";
import { basic } from "../../caller.js";
import { collector, type Collector } from "../../collector.js";
import { differences } from "../../exchange.js";
import { sender } from "./sender.js";

const folder = new URL("../../../../../test/fixtures/evi-notice", import.meta.url).pathname;
const own = loadFixtures(folder).filter((fixture) => fixture["side"] !== "client");
const named = (member: string) =>
  own.filter((fixture) => fixture[member]).map((fixture) => [fixture.file, fixture] as const);

const accounts = [
  { username: "owner", password: "owner" },
  { username: "noBalance", password: "noBalance", balance: 0 },
  { username: "notProvisioned", password: "notProvisioned", provisioned: false },
];
const LIMIT_BYTES = 10;

let sandbox: Sandbox;
let strict: Sandbox;
let inbox: Collector;
beforeAll(async () => {
  inbox = await collector();
  sandbox = await startSandbox({ speed: "manual", accounts });
  strict = await startSandbox({ speed: "manual", accounts, maxDocumentBytes: LIMIT_BYTES });
});
beforeEach(() => sandboxControl(sandbox.url).reset());
afterAll(async () => {
  await sandbox.close();
  await strict.close();
  await inbox.close();
});

/** The header that `given.account` stands for; undefined: none. */
function authorizationOf(account: string): string | undefined {
  if (account === "noAuthorization") return undefined;
  if (account === "wrongPassword") return basic("owner", "wrong");
  return basic(account === "ok" ? "owner" : account);
}

test.each(named("operation"))("%s", async (_file, fixture) => {
  const { account, earlier, attachmentLimitBytes, ...given } = fixture["given"];
  const values: Values = { basic: authorizationOf(account) };
  await sender(sandbox, "owner").bring(given, values);
  if (earlier !== undefined) await answerBefore(fixture, values);
  const target = attachmentLimitBytes === LIMIT_BYTES ? strict : sandbox;
  expect(await differences(target, fixture, values)).toEqual([]);
});

/** The same request once before, answered as `given.earlier` says. */
async function answerBefore(fixture: any, values: Values): Promise<void> {
  const { earlier: status } = fixture.given;
  const before = structuredClone({ ...fixture, response: { status } });
  if (status === 400) before.request.body = {};
  else if (status !== 200 && status !== 401)
    sandbox.faults.add({ operation: "evi-notice.submit", kind: "reject", status });
  if (status === 200) before.response = { ...fixture.response, status };
  const using = status === 401 ? { ...values, basic: basic("owner", "wrong") } : values;
  expect(await differences(sandbox, before, using)).toEqual([]);
  values["token"] = using["token"];
}

test.each(named("event"))("%s", async (_file, fixture) => {
  const values: Values = { callback: inbox.url };
  inbox.bodies.length = 0;
  await sender(sandbox, "owner").bring(fixture["given"], values);
  await sandbox.clock.advance(0);
  const body = fill(fixture["body"], { ...values });
  expect(inbox.bodies).toHaveLength(body.Kind === "AffidavitPublished" ? 2 : 1);
  expect(matches(fixture["body"], inbox.bodies.at(-1), { values })).toEqual([]);
});
