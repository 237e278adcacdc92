// An attempt without an answer: nothing else may be sent meanwhile, whatever a person decides and whatever the provider says
// later.
import { expect, test } from "vitest";
import {
  EffectAbsentOnce,
  EffectRefused,
  EffectWithdrawn,
  JournalUnavailable,
} from "../../../src/journal/journal.js";
import type { Effect } from "../../../src/journal/journal.js";
import {
  clockedJournal,
  confirmed,
  effectOf,
  failed,
  found,
  gate,
  LEASE,
  noAnswer,
  nothing,
  notSent,
  Provider,
  refused,
  sameStep,
  SPACING,
} from "../support.js";
import type { Answer } from "../support.js";
import { until } from "../../harness/outages/wait.js";

const { database, journal, statesOf, endLease, decide } = clockedJournal();

const write = (effect: Effect, values: string) =>
  database.pool.query(`update trustflow.effects set ${values} where token = $1`, [effect.token]);
/** A row that was superseded while the provider had no look-up. */
async function superseded(effect: Effect): Promise<Effect> {
  const once = { ...effect, effectClass: "once" as const };
  await failed(journal.perform(once, new Provider(noAnswer).performance));
  await endLease(effect);
  expect(await decide(effect, "retry", confirmed)).toMatchObject({ occurrence: "1" });
  return sameStep(effect, { occurrence: "1" });
}

test.each([
  ["0", "1"],
  ["10", "11"],
  ["4f-1", "4f-1+1"],
])(
  "a retry of %s makes %s, and makes no other one when it is written again",
  async (occurrence, next) => {
    const effect = effectOf({ occurrence, effectClass: "once" });
    for (const one of [effect, sameStep(effect, { occurrence: next })]) {
      await failed(journal.perform(one, new Provider(noAnswer).performance));
      await endLease(effect);
      expect(await decide(effect, "retry", confirmed)).toMatchObject({ occurrence: next });
    }
    const unknown = await failed(journal.perform(effect, new Provider().performance));
    expect(unknown).toMatchObject({ token: sameStep(effect, { occurrence: next }).token });
    for (const other of [{ attention: "a-2" }, { by: "Ben" }])
      expect((await decide(effect, "retry", { ...confirmed, ...other })).occurrence).not.toBe(next);
  },
);

test("a superseding row is not sent before the unanswered ones before it were looked up, twice", async () => {
  const effect = effectOf();
  const next = await superseded(effect);
  const provider = new Provider(undefined, nothing);
  await expect(journal.perform(next, provider.performance)).rejects.toThrow(EffectAbsentOnce);
  await database.pass(SPACING);
  provider.onLookUp = (token) => (token === effect.token ? found() : undefined);
  expect(await journal.perform(next, provider.performance)).toEqual({ id: "found" });
  expect(provider).toMatchObject({ lookUps: 2, sends: { length: 0 } });
  expect(await statesOf(effect)).toBe("0 answered, 1 notSent");
});

test("a refusal of the superseding row stays, after one more look-up of the unanswered one before it", async () => {
  const effect = effectOf({ effectClass: "once" });
  const next = { ...(await superseded(effect)), effectClass: "once" as const };
  const provider = new Provider(refused);
  for (let time = 0; time < 2; time += 1)
    await expect(journal.perform(next, provider.performance)).rejects.toThrow(EffectRefused);
  expect(provider.sends).toHaveLength(1);
});

test("retry, once: the late answer of the first attempt ends the next occurrence too", async () => {
  const effect = effectOf({ effectClass: "once" });
  const held = gate<Answer>();
  const first = new Provider(() => held.promise);
  const late = journal.perform(effect, first.performance);
  await until(() => first.sends.length === 1);
  await endLease(effect);
  const { occurrence } = await decide(effect, "retry", confirmed);
  held.open({ id: "late" });
  await late;
  const provider = new Provider();
  const next = sameStep(effect, { occurrence });
  expect(await journal.perform(next, provider.performance)).toEqual({ id: "late" });
  const supposed = { at: "2026-02-02T00:00:00Z", result: { id: "supposed" } };
  expect(await decide(effect, "happened", supposed)).toEqual({ occurrence, effect: "exists" });
  expect(await journal.perform(next, provider.performance)).toEqual({ id: "late" });
  expect(provider.sends).toHaveLength(0);
});

test("withdraw looks at all rows of the step, and leaves an unanswered step as it is", async () => {
  const effect = effectOf();
  const next = await superseded(effect);
  expect(await journal.withdraw(effect)).toBe("inFlight");
  expect(await statesOf(effect)).toBe("0 sending, 1 notSent");
  await write(effect, "state = 'answered'");
  expect(await journal.withdraw(effect)).toBe("answered");
  const unreadable = journal.perform(effect, new Provider().performance);
  await expect(unreadable).rejects.toThrow(JournalUnavailable);
  await write(effect, "state = 'notSent'");
  expect(await journal.withdraw(effect)).toBe("withdrawn");
  expect(await statesOf(effect)).toBe("0 withdrawn, 1 withdrawn");
  await expect(journal.perform(next, new Provider().performance)).rejects.toThrow(EffectWithdrawn);
});

test("a decision says what is known of the effect: none, unknown or exists", async () => {
  const never = effectOf();
  expect(await decide(never, "abandon")).toEqual({ occurrence: "0", effect: "none" });
  expect(await decide(effectOf(), "happened", { result: { id: "by hand" } })).toMatchObject({
    effect: "exists",
  });
  const expected = [
    [notSent, "none"],
    [refused, "none"],
    [noAnswer, "unknown"],
    [undefined, "exists"],
  ] as const;
  for (const [failure, known] of expected) {
    const effect = effectOf();
    await failed(journal.perform(effect, new Provider(failure, nothing).performance));
    for (let written = 0; written < 2; written += 1)
      expect(await decide(effect, "abandon")).toEqual({ occurrence: "0", effect: known });
  }
  const before = effectOf();
  await superseded(before);
  expect(await decide(before, "abandon")).toEqual({ occurrence: "1", effect: "unknown" });
});

test("a refusal after an unanswered attempt counts only once one more look-up is empty", async () => {
  for (const exists of [true, false]) {
    const effect = effectOf();
    const provider = new Provider(noAnswer, nothing);
    await failed(journal.perform(effect, provider.performance));
    await database.pass(LEASE);
    provider.onSend = () => Promise.reject(refused);
    for (const cause of [refused, undefined]) {
      const absent = await failed(journal.perform(effect, provider.performance));
      expect(absent).toBeInstanceOf(EffectAbsentOnce);
      expect(absent).toHaveProperty("cause", cause);
    }
    expect(await statesOf(effect)).toBe("0 sending");
    await database.pass(SPACING);
    if (exists) provider.onLookUp = found;
    for (let time = 0; time < 2; time += 1) {
      const outcome = await failed(journal.perform(effect, provider.performance));
      if (exists) expect(outcome).toEqual({ id: "found" });
      else expect(outcome).toEqual(new EffectRefused("submit", { code: "InvalidAddress" }));
    }
    expect(provider).toMatchObject({ lookUps: 3, sends: { length: 2 } });
    const effectKnown = exists ? "exists" : "none";
    expect(await decide(effect, "abandon")).toMatchObject({ effect: effectKnown });
  }
});
