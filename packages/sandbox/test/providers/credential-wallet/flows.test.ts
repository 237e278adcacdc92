// Both flows of the simulated wallet, what the ledger counts, and the faults that reach each step (P1 §4.6).
import { afterEach, describe, expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox.js";
import { ofFile } from "../../../../../test/harness/of-file.js";
import { holder } from "./holder.js";

const sandbox = ofFile(() => startSandbox({ speed: "manual" }));
const caller = holder(sandbox);
afterEach(() => sandbox.faults.clear());

const effects = (intent: string) => sandbox.ledger(intent).byIntent[intent] ?? {};
const named = (operations: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(operations).map(([name, count]) => [`credential-wallet.${name}`, count]),
  );

test("issuance: each step takes the ids of the steps before, and happens once", async () => {
  const reference = "issuance";
  await caller.createOperator({ reference });
  const template = await caller.createTemplate({ reference });
  const service = await caller.createIssuanceService(template, { reference });
  const { body } = await caller.initIssuance(service, { reference });
  expect(body).toMatchObject({ state: "initiated", url: expect.stringContaining(body.id) });
  expect(effects(reference)).toEqual(
    named({ createOperator: 1, createTemplate: 1, createIssuanceService: 1, initIssuance: 1 }),
  );
  expect(sandbox.ledger(reference).duplicates).toEqual([]);
});

test("presentation: each step takes the ids of the steps before, and happens once", async () => {
  const reference = "presentation";
  const operator = await caller.createOperator({ reference });
  const template = await caller.createTemplate({ reference });
  const verification = await caller.createVerificationTemplate(template, { reference });
  const service = await caller.createPresentationService(operator, verification, { reference });
  expect((await caller.initPresentation(service, { reference })).status).toBe(200);
  expect(effects(reference)).toEqual(
    named({
      createOperator: 1,
      createTemplate: 1,
      createVerificationTemplate: 1,
      createPresentationService: 1,
      initPresentation: 1,
    }),
  );
});

test("a step without a reference belongs to the intent of what it refers to", async () => {
  const template = await caller.createTemplate({ reference: "linked" });
  const service = await caller.createIssuanceService(template);
  await caller.initIssuance(service);
  expect(Object.keys(effects("linked"))).toHaveLength(3);
});

test("a service is shared: a flow of another intent is no duplicate, one of the same is", async () => {
  const template = await caller.createTemplate({ reference: "shared" });
  const service = await caller.createIssuanceService(template, { reference: "shared" });
  for (const reference of ["one", "two", "two"]) await caller.initIssuance(service, { reference });
  expect(sandbox.ledger("one").duplicates).toEqual([]);
  expect(sandbox.ledger("two").duplicates).toEqual([
    { intent: "two", operation: "credential-wallet.initIssuance", count: 2 },
  ]);
  expect(effects("shared")).toEqual(named({ createTemplate: 1, createIssuanceService: 1 }));
});

test("a path without its trailing slash is another one", async () => {
  expect((await caller.send("/api/v1/user/create")).status).toBe(404);
});

describe("faults", () => {
  test("the words of the first body hold for the steps after it", async () => {
    const reference = "threaded";
    const sandboxWords = "createIssuanceService=reject-429,initIssuance=cut-after-commit";
    await caller.createOperator({ reference, sandbox: sandboxWords });
    const template = await caller.createTemplate({ reference });
    const limited = await caller.send("/issuance/api/v1/service/create/", {
      reference,
      credential_template: template,
    });
    expect(limited).toMatchObject({ status: 429, body: { code: "Sandbox" } });
    const service = await caller.createIssuanceService(template, { reference });
    await expect(caller.initIssuance(service)).rejects.toThrow();
    expect(effects(reference)).toMatchObject(named({ createIssuanceService: 1, initIssuance: 1 }));
  });

  test("invisible: the first steps miss the new service", async () => {
    const template = await caller.createTemplate();
    const body = { sandbox: "createIssuanceService=invisible" };
    const service = await caller.createIssuanceService(template, body);
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn += 1)
      statuses.push((await caller.initIssuance(service)).status);
    expect(statuses).toEqual([404, 404, 200]);
  });
});

test("what exists can be listed and read, without any token", async () => {
  const id = await caller.createOperator({ reference: "listed", sandbox: "with-token" });
  const template = await caller.createTemplate({ reference: "listed" });
  const service = await caller.createIssuanceService(template, { reference: "listed" });
  const { body } = await caller.initIssuance(service, { reference: "listed" });
  const control = async (path: string) => (await fetch(`${sandbox.url}/_sandbox/${path}`)).text();
  expect(await control(`items/${id}`)).toContain('"state":"created"');
  expect(await control(`items/${body.id}`)).toContain('"state":"initiated"');
  expect(await control(`items/${id}`)).not.toContain(`${id.replaceAll("-", "")}-token`);
});
