// A lost answer at an account whose look-up is not known to find our items: nothing is sent again because nothing was found,
// until the look-up is proven, or a person decides (docs/reading-the-specification.md §1).
import { expect, test } from "vitest";
import { EffectAbsentOnce, EffectMismatch, EffectUnknown } from "../../../src/journal/journal.js";
import type { Decision } from "../../../src/journal/decisions.js";
import type { Effect, LookUpFinding, EffectHandlers } from "../../../src/journal/journal.js";
import {
  clockedJournal,
  confirmed,
  denied,
  effectOf,
  failed,
  found,
  noAnswer,
  nothing,
  notSent,
  Provider,
  sameStep,
  SPACING,
} from "../support.js";
import type { Answer } from "../support.js";

const { database, journal, statesOf, endLease, decide } = clockedJournal();

const retry = (effect: Effect, over: Partial<Decision> = {}) =>
  decide(effect, "retry", { ...confirmed, nobodyKnows: true, ...over });

/** A provider whose first answer is lost, and whose look-up finds nothing. */
function losing(finding: LookUpFinding) {
  const account = { finding };
  const provider = new Provider(noAnswer, nothing);
  const performance = (): EffectHandlers<Answer> => ({
    ...provider.performance,
    lookUpFinding: async () => account.finding,
  });
  return { account, provider, performance };
}

/** Tries until it is neither a moment too early nor in flight. */
async function settled(work: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    const result = await failed(work());
    if (!(result instanceof EffectAbsentOnce)) return result;
    await database.pass(SPACING);
  }
}

test.each(["unproven", "missing", "late"] as const)(
  "a letter without an answer is not sent again because a look-up that is %s does not find it",
  async (finding) => {
    const effect = effectOf();
    const { provider, performance } = losing(finding);
    expect(await failed(journal.perform(effect, performance()))).toBeInstanceOf(EffectAbsentOnce);
    await endLease(effect);
    const end = await settled(() => journal.perform(effect, performance()));
    expect(end).toBeInstanceOf(EffectUnknown);
    expect(end).toMatchObject({ lookUp: finding, token: effect.token });
    // What it finds is adopted all the same.
    provider.onLookUp = found;
    const watched = journal.perform(effect, performance(), { watchOnly: true });
    expect(await watched).toEqual({ id: "found" });
    expect(provider.sends).toHaveLength(1);
  },
);

test.each([
  ["came for it", null, "reported"],
  ["has the correlation value of another process", "correlationMismatch", undefined],
])(
  "a letter that its look-up does not find is sent again unless a callback came for it: one that %s",
  async (_what, reason, lookUp) => {
    const effect = effectOf();
    const { provider, performance } = losing("found");
    await failed(journal.perform(effect, performance()));
    await database.pool.query(
      `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, size, state, reason)
       values ($2, 'e-1', 'evi-post', $1, $2, 1, 'parked', $3)`,
      [effect.namespace, effect.workflowId, reason],
    );
    await endLease(effect);
    provider.onSend = () => ({ id: "second" });
    const end = await settled(() => journal.perform(effect, performance()));
    expect(end).toMatchObject(lookUp ? { lookUp } : { id: "second" });
    expect(provider.sends).toHaveLength(lookUp ? 1 : 2);
    // The process goes on with what the provider shows at last.
    provider.onLookUp = found;
    const watched = journal.perform(effect, performance(), { watchOnly: true });
    expect(await watched).toEqual({ id: lookUp ? "found" : "second" });
  },
);

test.each(["keyed", "lookup"] as const)(
  "%s: an open attention ends by itself once the look-up is proven",
  async (effectClass) => {
    const effect = effectOf({ effectClass });
    const { account, provider, performance } = losing("unproven");
    await failed(journal.perform(effect, performance()));
    await endLease(effect);
    await settled(() => journal.perform(effect, performance()));
    const watch = () => journal.perform(effect, performance(), { watchOnly: true });
    expect(await failed(watch())).toMatchObject({ lookUp: "unproven" });
    provider.onSend = () => ({ id: "second" });
    account.finding = "found";
    expect(await settled(watch)).toEqual({ id: "second" });
    expect(provider.sends).toHaveLength(2);
  },
);

async function parked(effect: Effect, { performance }: ReturnType<typeof losing>): Promise<void> {
  await failed(journal.perform(effect, performance()));
  await endLease(effect);
  await settled(() => journal.perform(effect, performance()));
}

test("keyed: after a person's retry it is looked up once more, and sent again with the same key until the provider takes it", async () => {
  const effect = effectOf();
  const one = losing("unproven");
  const { provider, performance } = one;
  await parked(effect, one);
  const { lookUps } = provider;
  expect(await retry(effect)).toMatchObject({ occurrence: "0" });
  expect(await journal.withdraw(effect)).toBe("inFlight");
  const other = journal.perform(sameStep(effect, { input: "other" }), performance());
  await expect(other).rejects.toThrow(EffectMismatch);
  // None of them says anything about the first one, which may stand under the key.
  for (const end of [notSent, denied, notSent]) {
    provider.onSend = () => Promise.reject(end);
    await expect(journal.perform(effect, performance())).rejects.toBe(end);
  }
  expect(provider.lookUps).toBe(lookUps + 3);
  provider.onSend = () => ({ id: "second" });
  expect(await journal.perform(effect, performance())).toEqual({ id: "second" });
  expect(new Set(provider.sends.map(({ idempotencyToken }) => idempotencyToken)).size).toBe(1);
});

test.each([
  ["whose look-up is not proven", "lookup", "unproven"],
  ["of the class lookup whose look-up is not configured", "lookup", undefined],
  ["without a look-up", "once", undefined],
] as const)("retry of an upload %s sends it again, once", async (_, effectClass, finding) => {
  const effect = effectOf({ effectClass });
  const one = losing(finding ?? "unproven");
  if (finding === undefined) {
    one.provider.onLookUp = undefined;
    const end = await failed(journal.perform(effect, one.performance()));
    expect(end).toBeInstanceOf(EffectUnknown);
    expect(end).toMatchObject({ cause: noAnswer });
  }
  await parked(effect, one);
  const { occurrence } = await retry(effect);
  expect(occurrence).toBe("1");
  one.provider.onSend = () => ({ id: "second" });
  const next = sameStep(effect, { occurrence });
  expect(await settled(() => journal.perform(next, one.performance()))).toEqual({ id: "second" });
  expect(one.provider.sends).toHaveLength(2);
  expect(await statesOf(effect)).toBe("0 sending, 1 answered");
});

test("a retry of an effect that was not shown as unknown leaves the row to its own rules", async () => {
  const effect = effectOf();
  await failed(journal.perform(effect, losing("found").performance()));
  await endLease(effect);
  expect(await retry(effect, { nobodyKnows: false })).toMatchObject({ occurrence: "0" });
  expect(await statesOf(effect)).toBe("0 sending");
});

// Of each class and of both ways of asking: next-action.test.ts.
test.each([
  ["that does not confirm it", { confirmRetry: false }],
  ["without a note", { note: "" }],
  ["with an empty note", { note: " " }],
])("what may have happened is not sent again by a retry %s", async (_, given) => {
  const effect = effectOf();
  const one = losing("unproven");
  await parked(effect, one);
  expect(await retry(effect, given)).toMatchObject({ occurrence: "0" });
  const end = await settled(() => journal.perform(effect, one.performance()));
  expect(end).toBeInstanceOf(EffectUnknown);
  expect(await statesOf(effect)).toBe("0 sending");
  expect(one.provider.sends).toHaveLength(1);
});
