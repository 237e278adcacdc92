// What a performance does with what it finds (docs/design.md §6): each action once. Which action each row leads to is next-action.test.ts.
import { expect, test } from "vitest";
import {
  EffectAbsentOnce,
  EffectInFlight,
  EffectMismatch,
  EffectRefused,
  EffectUnknown,
  EffectWithdrawn,
  LeaseRunning,
} from "../../../src/journal/journal.js";
import {
  clockedJournal,
  denied,
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
import { until } from "../../harness/outages/wait.js";

const { database, journal, endLease, decide } = clockedJournal();

/** The row as a killed worker leaves it; whether it was sent is unknown. */
async function crashed(effect: ReturnType<typeof effectOf>): Promise<void> {
  const once = { ...effect, effectClass: "once" as const };
  await failed(journal.perform(once, new Provider(noAnswer).performance));
  await endLease(effect);
}

test("no row: it is sent once, and the next performance gets the stored answer without a call", async () => {
  const effect = effectOf();
  const provider = new Provider();
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-1" });
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-1" });
  expect(provider.sends).toHaveLength(1);
  expect(provider.sends[0]).toMatchObject({
    attempt: 1,
    token: effect.token,
    idempotencyToken: effect.token,
  });
});

test("a denial renews the token that goes over the wire, after an empty look-up (docs/reading-the-specification.md §1)", async () => {
  const effect = effectOf();
  await expect(journal.perform(effect, new Provider(denied, nothing).performance)).rejects.toBe(
    denied,
  );
  const provider = new Provider(denied, nothing);
  await expect(journal.perform(effect, provider.performance)).rejects.toBe(denied);
  expect(provider.lookUps).toBe(1);
  const wire = provider.sends[0]?.idempotencyToken;
  expect(wire).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(wire).not.toBe(effect.token);
  const last = new Provider(undefined, nothing);
  await journal.perform(effect, last.performance);
  expect(new Set([effect.token, wire, last.sends[0]?.idempotencyToken]).size).toBe(3);
});

test.each(["keyed", "lookup"] as const)(
  "%s, no answer, absent twice with the spacing between: sent again with the same token once the lease is over, never earlier",
  async (effectClass) => {
    const effect = effectOf({ effectClass });
    const provider = new Provider(noAnswer, nothing);
    const absent = async () => {
      const error = await failed(journal.perform(effect, provider.performance));
      expect(error).toBeInstanceOf(EffectAbsentOnce);
      return error as EffectAbsentOnce;
    };
    expect((await absent()).cause).toBe(noAnswer);
    const early = await absent();
    expect(early.retryAfterMs).toBeLessThanOrEqual(SPACING);
    expect(provider).toMatchObject({ lookUps: 1, sends: { length: 1 } });
    await database.pass(early.retryAfterMs);
    const { retryAfterMs } = await absent();
    expect(retryAfterMs).toBeGreaterThan(SPACING);
    expect(retryAfterMs).toBeLessThanOrEqual(LEASE - SPACING);
    expect(provider).toMatchObject({ lookUps: 2, sends: { length: 1 } });
    await database.pass(retryAfterMs);
    provider.onSend = () => ({ id: "item-2" });
    expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-2" });
    expect(provider).toMatchObject({ lookUps: 3, sends: { length: 2 } });
    expect(provider.sends[1]?.idempotencyToken).toBe(effect.token);
  },
);

test("repeatable, unknown outcome: sent again by itself, and the first answer stays (docs/reading-the-specification.md §0)", async () => {
  const effect = effectOf({ effectClass: "repeatable" });
  const lost = new Provider(noAnswer);
  for (const sends of [1, 2]) {
    await expect(journal.perform(effect, lost.performance)).rejects.toBe(noAnswer);
    expect(lost.sends).toHaveLength(sends);
  }
  // An earlier orphan is harmless: a clean "not sent" after it settles the row.
  await expect(journal.perform(effect, new Provider(notSent).performance)).rejects.toBe(notSent);
  const answers = gate<{ id: string }>();
  const stalled = new Provider(() => answers.promise);
  const first = journal.perform(effect, stalled.performance);
  await until(() => stalled.sends.length === 1);
  await database.pass(LEASE);
  expect(await journal.perform(effect, new Provider().performance)).toEqual({ id: "item-1" });
  answers.open({ id: "orphan" });
  expect(await first).toEqual({ id: "item-1" });
});

test("a look-up that fails leaves the row as it was", async () => {
  const effect = effectOf();
  const away = new Error("provider away");
  const provider = new Provider(noAnswer, () => Promise.reject(away));
  for (let i = 0; i < 2; i += 1)
    await expect(journal.perform(effect, provider.performance)).rejects.toBe(away);
  provider.onLookUp = found;
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "found" });
  expect(provider.sends).toHaveLength(1);
});

test("another input: refused where something may exist, allowed where nothing does", async () => {
  const other = (effect: ReturnType<typeof effectOf>) => sameStep(effect, { input: "another" });
  const answered = effectOf();
  await journal.perform(answered, new Provider().performance);
  const sending = effectOf({ effectClass: "once" });
  await crashed(sending);
  for (const effect of [answered, sending]) {
    const provider = new Provider(undefined, nothing);
    await expect(journal.perform(other(effect), provider.performance)).rejects.toBeInstanceOf(
      EffectMismatch,
    );
    await expect(
      journal.perform(other(effect), provider.performance, { watchOnly: true }),
    ).rejects.toBeInstanceOf(EffectMismatch);
    expect(provider.sends).toHaveLength(0);
  }
  for (const failure of [refused, notSent]) {
    const effect = effectOf();
    await journal.perform(effect, new Provider(failure).performance).catch(() => undefined);
    expect(await journal.perform(other(effect), new Provider().performance)).toEqual({
      id: "item-1",
    });
    await expect(journal.perform(effect, new Provider().performance)).rejects.toBeInstanceOf(
      EffectMismatch,
    );
  }
  // A refusal allows another input only while no other step of the process exists.
  const said = effectOf();
  await failed(journal.perform(said, new Provider(refused).performance));
  await journal.perform(sameStep(said, { step: "earlier" }), new Provider().performance);
  await expect(journal.perform(other(said), new Provider().performance)).rejects.toBeInstanceOf(
    EffectMismatch,
  );
});

test("watch only: it never sends, whatever it finds", async () => {
  const watch = (effect: ReturnType<typeof effectOf>, provider: Provider) =>
    journal.perform(effect, provider.performance, { watchOnly: true });
  const provider = new Provider(undefined, nothing);
  const none = effectOf();
  await expect(watch(none, provider)).rejects.toBeInstanceOf(EffectUnknown);
  const open = effectOf({ effectClass: "once" });
  await crashed(open);
  await expect(watch(open, provider)).rejects.toBeInstanceOf(EffectUnknown);
  const unproven = effectOf();
  await failed(journal.perform(unproven, new Provider(noAnswer).performance));
  await expect(watch(unproven, provider)).rejects.toBeInstanceOf(EffectUnknown);
  const free = effectOf();
  await journal.perform(free, new Provider(notSent).performance).catch(() => undefined);
  const proven = { ...provider.performance, lookUpFinding: async () => "found" as const };
  const watched = journal.perform(free, proven, { watchOnly: true });
  await expect(watched).rejects.toBeInstanceOf(EffectUnknown);
  const said = effectOf();
  await journal.perform(said, new Provider(refused).performance).catch(() => undefined);
  await expect(watch(said, provider)).rejects.toBeInstanceOf(EffectRefused);
  expect(await watch(open, new Provider(undefined, found))).toEqual({ id: "found" });
  expect(await watch(open, provider)).toEqual({ id: "found" });
  expect(provider.sends).toHaveLength(0);
});

test("withdraw: before the send nothing can be sent any more; later it says why not", async () => {
  const untouched = effectOf();
  expect(await journal.withdraw(untouched)).toBe("withdrawn");
  expect(await journal.withdraw(untouched)).toBe("withdrawn");
  const provider = new Provider();
  await expect(journal.perform(untouched, provider.performance)).rejects.toBeInstanceOf(
    EffectWithdrawn,
  );
  const free = effectOf();
  await journal.perform(free, new Provider(notSent).performance).catch(() => undefined);
  expect(await journal.withdraw(free)).toBe("withdrawn");
  await expect(journal.perform(free, provider.performance)).rejects.toBeInstanceOf(EffectWithdrawn);
  expect(provider.sends).toHaveLength(0);

  const answered = effectOf();
  await journal.perform(answered, new Provider().performance);
  expect(await journal.withdraw(answered)).toBe("answered");
  const said = effectOf();
  await journal.perform(said, new Provider(refused).performance).catch(() => undefined);
  expect(await journal.withdraw(said)).toBe("withdrawn");
  await expect(journal.perform(said, provider.performance)).rejects.toBeInstanceOf(EffectWithdrawn);
  const open = effectOf({ effectClass: "once" });
  await crashed(open);
  expect(await journal.withdraw(open)).toBe("inFlight");
});

test.each([
  ["was refused", refused],
  ["did not arrive", notSent],
])("withdraw holds for any input: an earlier run had another one, which %s", async (_, end) => {
  const before = effectOf({ input: "before" });
  await failed(journal.perform(before, new Provider(end).performance));
  const effect = sameStep(before, { input: "corrected" });
  expect(await journal.withdraw(effect)).toBe("withdrawn");
  const provider = new Provider();
  const ended = await failed(journal.perform(effect, provider.performance));
  expect([ended, provider.sends]).toEqual([expect.any(EffectWithdrawn), []]);
});

test("happened is the answer for the run that asks, although an earlier one had another input", async () => {
  const before = effectOf({ input: "before" });
  await failed(journal.perform(before, new Provider(refused).performance));
  const effect = { ...sameStep(before, { input: "corrected" }), account: "other" };
  await decide(effect, "happened", { result: { id: "by hand" } });
  const provider = new Provider();
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "by hand" });
  expect(await failed(journal.perform(before, provider.performance))).toBeInstanceOf(
    EffectMismatch,
  );
  expect(await journal.mayHaveEffect(effect, "other")).toBe(true);
});

test.each(["refused", "answered"])(
  "a decision is about the occurrence that asks: an earlier one of the step is %s",
  async (end) => {
    const effect = effectOf({ effectClass: "once", step: "enroll" });
    const earlier = new Provider(end === "refused" ? refused : undefined);
    await failed(journal.perform(effect, earlier.performance));
    const [later, ended] = ["1", "2"].map((occurrence) => sameStep(effect, { occurrence }));
    const decided = await decide(later!, "retry");
    expect(decided.occurrence).toBe("1");
    const provider = new Provider();
    expect(await journal.perform(later!, provider.performance)).toEqual({ id: "item-1" });
    // No attempt may send it, until one that runs is surely over.
    await decide(ended!, "abandon", { attention: "a-2" });
    expect(await failed(journal.perform(ended!, provider.performance))).toBeInstanceOf(
      EffectInFlight,
    );
    expect(provider.sends).toHaveLength(1);
  },
);

test("each error of a step has the name of its class, and names the step", () => {
  const errors = [
    new EffectAbsentOnce("pay", 1),
    new EffectInFlight("pay", 1),
    new EffectMismatch("pay"),
    new EffectRefused("pay", {}),
    new EffectUnknown("pay", "token"),
    new EffectWithdrawn("pay"),
    new LeaseRunning("pay", new Date()),
  ];
  for (const error of errors) {
    expect(error.name).toBe(error.constructor.name);
    expect(error.message).toContain('step "pay"');
  }
});

test("an undefined answer comes back undefined", async () => {
  const empty = effectOf();
  const performance = {
    send: () => Promise.resolve(undefined),
    sendFailureOf: () => ({ kind: "noAnswer" as const }),
  };
  expect(await journal.perform(empty, performance)).toBeUndefined();
  expect(await journal.perform(empty, performance)).toBeUndefined();
});
