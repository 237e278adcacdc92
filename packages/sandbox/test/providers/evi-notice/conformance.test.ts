// The sandbox against the fixtures transcribed from the specification (test/fixtures/evi-notice/README.md).
import { afterAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import {
  fill,
  fixturesOf,
  matches,
  type Values,
} from "../../../../../test/harness/fixtures/fixtures.js";
import { collector } from "../../collector.js";
import { authorizationOf, differences, submitBefore } from "../../exchange.js";
import { sender } from "./sender.js";

const accounts = [
  { username: "owner", password: "owner" },
  { username: "noBalance", password: "noBalance", balance: 0 },
  { username: "notProvisioned", password: "notProvisioned", provisioned: false },
];
const LIMIT_BYTES = 10;

const inbox = await collector();
const sandbox = await startSandbox({ speed: "manual", accounts });
const strict = await startSandbox({ speed: "manual", accounts, maxDocumentBytes: LIMIT_BYTES });
beforeEach(() => sandboxControl(sandbox.url).reset());
afterAll(async () => {
  await sandbox.close();
  await strict.close();
  await inbox.close();
});

test.each(fixturesOf("sandbox", "evi-notice", "operation"))("%s", async (_, fixture) => {
  const { account, attachmentLimitBytes, ...given } = fixture["given"];
  const values: Values = { basic: authorizationOf(account, "owner") };
  await sender(sandbox, "owner").bring(given, values);
  expect(await submitBefore(sandbox, fixture, "evi-notice.submit", values)).toEqual([]);
  const target = attachmentLimitBytes === LIMIT_BYTES ? strict : sandbox;
  expect(await differences(target, fixture, values)).toEqual([]);
});

test.each(fixturesOf("sandbox", "evi-notice", "event"))("%s", async (_, fixture) => {
  const values: Values = { callback: inbox.url };
  inbox.bodies.length = 0;
  await sender(sandbox, "owner").bring(fixture["given"], values);
  await sandbox.clock.advance(0);
  const body = fill(fixture["body"], { ...values });
  expect(inbox.bodies).toHaveLength(body.Kind === "AffidavitPublished" ? 2 : 1);
  expect(matches(fixture["body"], inbox.bodies.at(-1), { values })).toEqual([]);
});
