// Who decides is proven, and a signature is used once (docs/design.md §6).
import { beforeEach, describe, expect, test, vi } from "vitest";
import { randomUUID } from "node:crypto";
import { generateOperatorKey, signDecision } from "../../src/crypto/decision-signature.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../src/crypto/sealed-box.js";
import { SignedDecisions } from "../../src/journal/signed-decisions.js";
import type { GivenDecision, OpenSecret } from "../../src/journal/signed-decisions.js";
import { WorkerSecrets } from "../../src/temporal/codec/secrets.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { failed, sealers } from "./support.js";
import { ofFile } from "../harness/of-file.js";

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
const secretsRing = KeyRing.parse(generateBoxRing().privateRing);
const workerSecrets = new WorkerSecrets(secretsRing);
const open: OpenSecret = (text, processKey) => workerSecrets.open(text, processKey);
let given: GivenDecision;

const database = ofFile(testDatabase);
const rules = { isRequired: true, secondPerson: new Set(["abandon", "happened"]), operators };
const decidedBy = (changed: Partial<typeof rules> = {}) =>
  new SignedDecisions(database.pool, sealers, { ...rules, ...changed }, open);
const decisions = ofFile(() => decidedBy());
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
  at?: string;
}

function signed({
  operator = "ana",
  key = "ana",
  at = minutesAgo(0),
}: Signing = {}): GivenDecision {
  const { firstRunId: _, ...about } = given;
  const value = signDecision(bytes(keys[key].privateKey), { ...about, operator, at });
  return { ...given, argument: { ...given.argument, signature: { operator, at, value } } };
}

const refusal = (asked: GivenDecision) => failed(decisions.prove(asked));
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

test("an operator's signature proves who decides, with each of the operator's keys", async () => {
  expect(await decisions.prove(signed())).toEqual({ principal: "ana" });
  given = { ...given, updateId: randomUUID() };
  expect(await decisions.prove(signed({ key: "old" }))).toEqual({ principal: "ana" });
  given = { ...given, update: "cancel", updateId: randomUUID(), argument: { by: "Ana Ruiz" } };
  expect(await decisions.prove(signed())).toEqual({ principal: "ana" });
});

test("without a signature it is refused if one is required, else accepted without an operator", async () => {
  expect(await refusal(given)).toMatchObject({ path: "signature" });
  const recorded = decidedBy({ isRequired: false });
  expect(await recorded.prove(given)).toEqual({});
  expect(await failed(recorded.prove(signed({ key: "ben" })))).toMatchObject({
    path: "signature.value",
  });
});

test("it is refused with another operator's key, from an unknown operator, and for an update that the operator may not send", async () => {
  expect(await refusal(signed({ key: "ben" }))).toMatchObject({ path: "signature.value" });
  expect(await refusal(signed({ operator: "eve" }))).toMatchObject({ path: "signature.operator" });
  given = { ...given, update: "cancel" };
  expect(await refusal(signed({ operator: "ben", key: "ben" }))).toMatchObject({
    path: "signature.operator",
    problem: "may not cancel",
    message: "signature.operator may not cancel",
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
  expect(await decisions.prove(asked)).toEqual({ principal: "ana" });
});

test("the same decision comes again after a reset, however late; a process of the same id is another one", async () => {
  const asked = signed();
  await decisions.prove(asked);
  vi.setSystemTime(Date.now() + 86_400_000);
  try {
    expect(await decisions.prove(asked)).toEqual({ principal: "ana" });
  } finally {
    vi.useRealTimers();
  }
  expect(await refusal({ ...asked, firstRunId: "run-2" })).toMatchObject({ path: "signature" });
});

test("an update id has one signature", async () => {
  await decisions.prove(signed());
  expect(await refusal(signed({ at: minutesAgo(1) }))).toMatchObject({ path: "signature" });
});

test("an old signature, one of the future, or one without a date is refused where it was never used", async () => {
  for (const at of [minutesAgo(11), minutesAgo(-11), "yesterday"])
    expect(await refusal(signed({ at }))).toMatchObject({ path: "signature.at" });
  expect(await decisions.prove(signed({ at: minutesAgo(9) }))).toEqual({ principal: "ana" });
});

test("a use is no effect of the process: nothing of it may exist by that", async () => {
  await decisions.prove(signed());
  const { rows } = await database.pool.query(
    "select state, sealed_answer from trustflow.effects where workflow_id = $1",
    [given.workflowId],
  );
  expect(rows).toEqual([{ state: "withdrawn", sealed_answer: expect.any(Buffer) }]);
});

describe("a decision that takes two persons", () => {
  const decides = (
    operator: "ana" | "ben",
    changed: object = {},
    firstRunId = "run-1",
    by = decisions,
  ) => {
    given = {
      ...given,
      firstRunId,
      updateId: randomUUID(),
      argument: { attention: "submit-1", decision: "abandon", by: "a person", ...changed },
    };
    return by.prove(signed({ operator, key: operator }));
  };
  const proposes = (principal: string) => ({ principal, secondPerson: {} });
  const confirms = (principal: string, proposedBy: string) => ({
    principal,
    secondPerson: { proposedBy },
  });

  test("is proposed by one and confirmed by another, whatever they note", async () => {
    expect(await decides("ana")).toEqual(proposes("ana"));
    expect(await decides("ana")).toEqual(proposes("ana"));
    expect(await decides("ben", { note: "seen", by: "Ben" })).toEqual(confirms("ben", "ana"));
  });

  test("is not confirmed for another attention, another result or another start", async () => {
    for (const [changed, run] of [
      [{ attention: "submit-2" }],
      [{ result: { uniqueId: "4f1c" } }],
      [{}, "run-2"],
    ] as const) {
      await decides("ana");
      expect(await decides("ben", changed, run)).toEqual(proposes("ben"));
    }
    await decides("ana");
    await decides("ana", { attention: "submit-2" });
    expect(await decides("ben")).toEqual(confirms("ben", "ana"));
    const parts = (id: number) => ({ decision: "happened", result: { parts: [{ id }] } });
    await decides("ana", parts(1));
    expect(await decides("ben", parts(2))).toEqual(proposes("ben"));
    expect(await decides("ana", parts(2))).toEqual(confirms("ana", "ben"));
  });

  test("is confirmed by a result whose secret each of the two has sealed", async () => {
    const happened = (deviceCode: unknown) => ({ decision: "happened", result: { deviceCode } });
    const sealed = (secret: string, workflowId = given.workflowId) =>
      workerSecrets.seal(secret, { namespace: "default", workflowId });
    expect(sealed("4f1c")).not.toBe(sealed("4f1c"));
    expect(await decides("ana", happened(sealed("4f1c")))).toEqual(proposes("ana"));
    expect(await decides("ben", happened(sealed("4f1d")))).toEqual(proposes("ben"));
    expect(await decides("ana", happened(sealed("4f1d")))).toEqual(confirms("ana", "ben"));
    // A plain client sends it in clear.
    expect(await decides("ben", happened("4f1d"))).toEqual(confirms("ben", "ana"));
    expect(await decides("ana", happened(7))).toEqual(proposes("ana"));
    expect(await decides("ben", happened(sealed("7")))).toEqual(confirms("ben", "ana"));
    const copied = happened(sealed("7", "sendPostal/another"));
    expect(await failed(decides("ana", copied))).toMatchObject({ path: "result.deviceCode" });
    const rules = { isRequired: true, secondPerson: new Set<string>(), operators };
    const ours = new Error("ours");
    const broken = new SignedDecisions(database.pool, sealers, rules, () => {
      throw ours;
    });
    expect(await failed(decides("ana", happened("7"), "run-1", broken))).toBe(ours);
    // What was refused is no decision.
    expect(await decides("ana", happened("7"))).toEqual(confirms("ana", "ben"));
  });

  test("is not confirmed where the one who proposed it may decide no more", async () => {
    await decides("ana");
    const may = (updates: string[]) => ({ ...operators.get("ana")!, may: new Set(updates) });
    for (const [left, expected] of [
      [new Map([["ben", operators.get("ben")!]]), proposes("ben")],
      [new Map([...operators, ["ana", may(["cancel"])]]), proposes("ben")],
      [operators, confirms("ben", "ana")],
    ] as const) {
      const now = decidedBy({ operators: left });
      expect(await decides("ben", {}, "run-1", now)).toEqual(expected);
      await decides("ana");
    }
  });

  test("is taken back by whatever is decided after it", async () => {
    await decides("ana");
    expect(await decides("ben", { decision: "retry" })).toEqual({ principal: "ben" });
    expect(await decides("ben")).toEqual(proposes("ben"));
    expect(await decides("ana")).toEqual(confirms("ana", "ben"));
  });

  test("that two make at the same moment is confirmed by one of them at the least", async () => {
    const both = await Promise.all([decides("ana"), decides("ben")]);
    expect(both.filter(({ secondPerson }) => secondPerson?.proposedBy)).not.toEqual([]);
  });
});
