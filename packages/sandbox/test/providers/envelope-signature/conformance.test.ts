// The sandbox against the fixtures transcribed from P1 §2.10, 4.5, 5.5 (test/fixtures/envelope-signature/README.md).
import { afterAll, expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox.js";
import { fixturesOf, type Values } from "../../../../../test/harness/fixtures/fixtures.js";
import { differences } from "../../exchange.js";
import { certificateOf, sender } from "./sender.js";

const sandbox = await startSandbox({
  speed: "manual",
  accounts: [
    { username: "owner", password: "owner" },
    { username: "other", password: "other" },
    { username: "notProvisioned", password: "notProvisioned", provisioned: false },
  ],
});
afterAll(() => sandbox.close());

const holders: Record<string, string> = { ok: "owner", wrongToken: "nobody" };

/** The certificate request and the files that are there before. */
async function bring(given: Record<string, any>): Promise<Values> {
  const { request, files = [], filesOf, sent } = given;
  if (!request) return {};
  const owner = sender(sandbox, "owner");
  const created = await owner.all(request, filesOf ? [] : files);
  const uploaded = filesOf ? (await sender(sandbox, filesOf).all({}, files)).fileIds : [];
  const fileIds = [...created.fileIds, ...uploaded];
  if (sent) await owner.send(fileIds, created.esaw_token);
  const numbered = fileIds.map((id, index) => [`file${index + 1}`, id]);
  return { ...Object.fromEntries(numbered), esawToken: created.esaw_token };
}

test.each(fixturesOf("sandbox", "envelope-signature"))("%s", async (_, fixture) => {
  const { given } = fixture;
  const holder = holders[given.account] ?? given.account;
  const values: Values = { ...(await bring(given)), apiToken: `${holder}-api-token` };
  const certificate = certificateOf(sandbox, holder);
  expect(await differences(sandbox, fixture, values, certificate)).toEqual([]);
});
