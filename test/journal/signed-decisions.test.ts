// Who decides is proven, and a signature is used once (docs/decisions/0024).
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { generateOperatorKey, signDecision } from "../../src/crypto/decision-signature.js";
import { SignedDecisions } from "../../src/journal/signed-decisions.js";
import type { GivenDecision } from "../../src/journal/signed-decisions.js";
import { testDatabase } from "../support/postgres.js";
import type { TestDatabase } from "../support/postgres.js";
import { failed, sealers } from "./support.js";

const keys = { ana: generateOperatorKey(), ben: generateOperatorKey(), old: generateOperatorKey() };
const bytes = (text: string) => Buffer.from(text, "base64");
const operators = new Map([
  [
    "ana",
    {
      publicKeys: [bytes(keys.ana.publicKey), bytes(keys.old.publicKey)],
      may: new Set(["resolve", "cancel"]),
    },
  ],
  ["ben", { publicKeys: [bytes(keys.ben.publicKey)], may: new Set(["resolve"]) }],
]);
let database: TestDatabase;
let decisions: SignedDecisions;
let given: GivenDecision;

beforeAll(async () => {
  database = await testDatabase();
  decisions = new SignedDecisions(database.pool, sealers, { isRequired: true, operators });
});
afterAll(() => database.close());
beforeEach(() => {
  given = {
    namespace: "default",
    workflowId: `sendPostal/${randomUUID()}`,
    update: "resolve",
    updateId: randomUUID(),
    firstRunId: "run-1",
    argument: { attention: "submit-1", decision: "retry", by: "Ana Ruiz" },
  };
});

interface Signing {
  operator?: string;
  key?: keyof typeof keys;
  at?: Date;
}

function signed({ operator = "ana", key = "ana", at = new Date() }: Signing = {}): GivenDecision {
  const { firstRunId: _, ...about } = given;
  const text = at.toISOString();
  const value = signDecision(bytes(keys[key].privateKey), { ...about, operator, at: text });
  return { ...given, argument: { ...given.argument, signature: { operator, at: text, value } } };
}

const refusal = (asked: GivenDecision) => failed(decisions.prove(asked));
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

test("an operator's signature proves who decides, with each of the operator's keys", async () => {
  expect(await decisions.prove(signed())).toBe("ana");
  given = { ...given, updateId: randomUUID() };
  expect(await decisions.prove(signed({ key: "old" }))).toBe("ana");
});

test("without a signature it is refused where one is required, and else taken as nobody's", async () => {
  expect(await refusal(given)).toMatchObject({ path: "signature" });
  const recorded = new SignedDecisions(database.pool, sealers, { isRequired: false, operators });
  expect(await recorded.prove(given)).toBeUndefined();
  expect(await failed(recorded.prove(signed({ key: "ben" })))).toMatchObject({
    path: "signature.value",
  });
});

test("it is refused by another's key, from nobody known, and for what the operator may not", async () => {
  expect(await refusal(signed({ key: "ben" }))).toMatchObject({ path: "signature.value" });
  expect(await refusal(signed({ operator: "eve" }))).toMatchObject({ path: "signature.operator" });
  given = { ...given, update: "cancel" };
  expect(await refusal(signed({ operator: "ben", key: "ben" }))).toMatchObject({
    path: "signature.operator",
    problem: "may not cancel",
  });
});

test("it is refused for another process, another update and another argument", async () => {
  const asked = signed();
  for (const changed of [
    { workflowId: "sendPostal/other" },
    { namespace: "other" },
    { updateId: "other" },
    { update: "cancel" },
    { argument: { ...asked.argument, decision: "abandon" } },
  ])
    expect(await refusal({ ...asked, ...changed })).toMatchObject({ path: "signature.value" });
  expect(await decisions.prove(asked)).toBe("ana");
});

test("the same decision comes again after a reset, however late; a process of the same id is another one", async () => {
  const asked = signed();
  await decisions.prove(asked);
  expect(await decisions.prove(asked)).toBe("ana");
  expect(await refusal({ ...asked, firstRunId: "run-2" })).toMatchObject({ path: "signature" });
});

test("an update id has one signature", async () => {
  await decisions.prove(signed());
  expect(await refusal(signed({ at: minutesAgo(1) }))).toMatchObject({ path: "signature" });
});

test("an old signature, or one of the future, is refused where it was never used", async () => {
  for (const at of [minutesAgo(11), minutesAgo(-11)])
    expect(await refusal(signed({ at }))).toMatchObject({ path: "signature.at" });
  expect(await decisions.prove(signed({ at: minutesAgo(9) }))).toBe("ana");
});

test("one that was used in time is known for as long as the row is", async () => {
  const asked = signed();
  await decisions.prove(asked);
  const now = Date.now;
  Date.now = () => now() + 86_400_000;
  try {
    expect(await decisions.prove(asked)).toBe("ana");
  } finally {
    Date.now = now;
  }
});

test("a date that is none is refused", async () => {
  const { firstRunId: _, ...about } = given;
  const at = "yesterday";
  const value = signDecision(bytes(keys.ana.privateKey), { ...about, operator: "ana", at });
  const signature = { operator: "ana", at, value };
  expect(await refusal({ ...given, argument: { ...given.argument, signature } })).toMatchObject({
    path: "signature.at",
  });
});

test("a use is no effect of the process: nothing of it may exist by that", async () => {
  await decisions.prove(signed());
  const { rows } = await database.pool.query(
    "select state, sealed_answer from trustflow.effects where workflow_id = $1",
    [given.workflowId],
  );
  expect(rows).toEqual([{ state: "withdrawn", sealed_answer: expect.any(Buffer) }]);
});
