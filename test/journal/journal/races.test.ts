// Two workers that both believe an effect is theirs, leases that end, answers that come late, and people who decide (docs/design.md §6).
import { expect, onTestFinished, test, vi } from "vitest";
import {
  EffectAbsentOnce,
  EffectInFlight,
  EffectMismatch,
  EffectUnknown,
  EffectWithdrawn,
  Journal,
  JournalUnavailable,
  LeaseRunning,
} from "../../../src/journal/journal.js";
import type { Effect } from "../../../src/journal/journal.js";
import { retryFor } from "../../../src/journal/patience.js";
import type { Pool } from "../../../src/postgres/pool.js";
import {
  clockedJournal,
  confirmed,
  denied,
  effectOf,
  failed,
  gate,
  LEASE,
  noAnswer,
  nothing,
  notSent,
  options,
  Provider,
  refused,
  sameStep,
  sealers,
  SPACING,
} from "../support.js";
import type { Answer } from "../support.js";
import { until } from "../../harness/outages/wait.js";

const { database, journal, statesOf, decide } = clockedJournal();

/** A sender that hangs until the test lets it go. */
async function hanging(effect: Effect) {
  const held = gate<Answer>();
  const provider = new Provider(() => held.promise);
  const result = journal.perform(effect, provider.performance);
  result.catch(() => undefined);
  await until(() => provider.sends.length === 1);
  return { ...held, provider, result };
}

test.each<[string, (effect: Effect) => Promise<unknown>]>([
  ["no row", async () => undefined],
  [
    "a row that was not sent",
    (effect) => failed(journal.perform(effect, new Provider(notSent).performance)),
  ],
  [
    "the row of a killed sender",
    async (effect) => {
      await hanging(effect);
      await database.pass(LEASE);
    },
  ],
])("many performers at once find %s: exactly one sends, all others wait", async (_, before) => {
  const effect = effectOf({ effectClass: "lookup" });
  await before(effect);
  const held = gate<Answer>();
  const provider = new Provider(() => held.promise, nothing);
  let waiting = 0;
  const all = Array.from({ length: 20 }, async () => {
    try {
      return await journal.perform(effect, provider.performance);
    } catch (error) {
      waiting += error instanceof EffectInFlight ? 1 : 0;
      return { id: "item-1" };
    }
  });
  await until(() => waiting === 19);
  held.open({ id: "item-1" });
  expect(new Set((await Promise.all(all)).map(({ id }) => id))).toEqual(new Set(["item-1"]));
  expect(provider.sends).toHaveLength(1);
});

test("lease over, keyed: takeover after two empty look-ups; the first one's late answer does not overwrite the second's", async () => {
  const effect = effectOf();
  const first = await hanging(effect);
  const second = new Provider(() => ({ id: "second" }), nothing);
  await expect(journal.perform(effect, second.performance)).rejects.toBeInstanceOf(EffectInFlight);
  await database.pass(LEASE);
  await expect(journal.perform(effect, second.performance)).rejects.toBeInstanceOf(
    EffectAbsentOnce,
  );
  await database.pass(SPACING);
  expect(await journal.perform(effect, second.performance)).toEqual({ id: "second" });
  first.open({ id: "first" });
  expect(await first.result).toEqual({ id: "second" });
  expect(await journal.perform(effect, second.performance)).toEqual({ id: "second" });
  expect(second.sends).toHaveLength(1);
});

test("the first one's late refusal, \"not sent\" or silence does not touch the second's attempt", async () => {
  for (const late of [refused, notSent, noAnswer]) {
    const effect = effectOf({ effectClass: "lookup" });
    const first = await hanging(effect);
    await database.pass(LEASE);
    const held = gate<Answer>();
    const second = new Provider(() => held.promise, nothing);
    const result = journal.perform(effect, second.performance);
    await until(() => second.sends.length === 1);
    first.fail(late);
    await first.result.catch(() => undefined);
    expect(await statesOf(effect)).toBe("0 sending");
    await expect(journal.perform(effect, second.performance)).rejects.toBeInstanceOf(
      EffectInFlight,
    );
    held.open({ id: "second" });
    expect(await result).toEqual({ id: "second" });
  }
});

test("an empty look-up proves nothing if another sender has sent meanwhile, or a person has decided", async () => {
  const meanwhile = [
    async (effect: Effect) => {
      const other = new Provider(noAnswer, nothing);
      await journal.perform(effect, other.performance).catch(() => undefined);
      expect(other.sends).toHaveLength(1);
    },
    async (effect: Effect) => {
      await decide(effect, "happened", { result: { id: "by hand" } });
    },
  ];
  for (const happens of meanwhile) {
    const effect = effectOf({ effectClass: "lookup" });
    const first = await hanging(effect);
    await database.pass(LEASE);
    const held = gate<undefined>();
    const provider = new Provider(undefined, () => held.promise);
    const result = journal.perform(effect, provider.performance).catch(() => undefined);
    await until(() => provider.lookUps === 1);
    await happens(effect);
    held.open(undefined);
    await result;
    expect(provider.sends.filter(({ token }) => token === effect.token)).toHaveLength(0);
    first.open({ id: "late" });
    await first.result;
  }
});

test("once, lease over: unknown, until the late answer comes and ends it by itself", async () => {
  const effect = effectOf({ effectClass: "once" });
  const first = await hanging(effect);
  await database.pass(LEASE);
  const watch = () => journal.perform(effect, new Provider().performance, { watchOnly: true });
  await expect(journal.perform(effect, new Provider().performance)).rejects.toBeInstanceOf(
    EffectUnknown,
  );
  await expect(watch()).rejects.toBeInstanceOf(EffectUnknown);
  first.open({ id: "late" });
  expect(await first.result).toEqual({ id: "late" });
  expect(await watch()).toEqual({ id: "late" });
});

// A machine that was asleep or stopped shows it on only one of its clocks.
test.each([
  ["wall", Date],
  ["monotonic", performance],
])(
  "a sender whose lease was over by the %s clock before it could write sends nothing and gives the row back",
  async (_, clock) => {
    const effect = effectOf({ effectClass: "once" });
    const slow = new Journal(
      delayed(database.pool, /insert into trustflow.effects/, () => {
        vi.spyOn(clock, "now").mockReturnValue(clock.now() + LEASE);
      }),
      sealers,
      options,
    );
    const provider = new Provider();
    try {
      await expect(slow.perform(effect, provider.performance)).rejects.toBeInstanceOf(
        EffectInFlight,
      );
    } finally {
      vi.restoreAllMocks();
    }
    expect(provider.sends).toHaveLength(0);
    expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-1" });
  },
);

test.each([
  ["a usual call", undefined, LEASE],
  ["a short call", 1, LEASE],
  ["a long call", 50 * LEASE, 50 * LEASE],
])("%s must end before its lease, and nobody else sends until then", async (_, asked, leaseMs) => {
  const given = effectOf({ effectClass: "repeatable" });
  const provider = new Provider(() => new Promise(() => {}));
  const effect = asked === undefined ? given : { ...given, leaseMs: asked };
  void journal.perform(effect, provider.performance);
  await until(() => provider.sends.length === 1);
  const failure = await failed(journal.perform(effect, provider.performance));
  expect(failure).toBeInstanceOf(EffectInFlight);
  const left = provider.sends[0]?.leftMs() ?? 0;
  for (const ms of [(failure as EffectInFlight).retryAfterMs, left])
    expect(ms).toBeGreaterThan(leaseMs / 2);
  vi.spyOn(Date, "now").mockReturnValue(Date.now() - 3_600_000);
  expect(provider.sends[0]?.leftMs()).toBeLessThan(leaseMs);
  vi.restoreAllMocks();
});

test("withdraw races with a send: either nothing is sent, or it says that something may be under way", async () => {
  for (let round = 0; round < 30; round += 1) {
    const effect = effectOf();
    const provider = new Provider();
    const [withdrawal] = await Promise.all([
      journal.withdraw(effect),
      journal.perform(effect, provider.performance).catch(() => undefined),
    ]);
    expect(provider.sends).toHaveLength(withdrawal === "withdrawn" ? 0 : 1);
  }
});

test.each([
  ["withdrawn", "did not arrive", [denied]],
  ["abandoned", "did not arrive", [denied]],
  ["abandoned", "was refused", [denied, refused]],
])(
  "%s while an attempt asks first: it sends nothing, although another input %s before",
  async (how, _, ends) => {
    const before = effectOf({ input: "before" });
    for (const end of ends)
      await failed(journal.perform(before, new Provider(end, nothing).performance));
    const effect = sameStep(before, { input: "corrected" });
    const [asked, answer] = [gate<void>(), gate<undefined>()];
    const provider = new Provider(undefined, () => {
      asked.open();
      return answer.promise;
    });
    const attempt = failed(journal.perform(effect, provider.performance));
    await asked.promise;
    const known = how === "abandoned" ? decide(effect, "abandon") : journal.withdraw(effect);
    expect(await known).toEqual(
      how === "abandoned" ? { occurrence: "0", effect: "none" } : "withdrawn",
    );
    answer.open(undefined);
    expect(await attempt).toBeInstanceOf(how === "abandoned" ? EffectInFlight : EffectWithdrawn);
    expect(provider.sends).toEqual([]);
  },
);

test("a lease whose commit was not acknowledged is given back: the next attempt may send", async () => {
  const effect = effectOf({ effectClass: "once" });
  const deaf = new Journal(
    deafened(database.pool, /insert into trustflow.effects/),
    sealers,
    options,
  );
  const provider = new Provider();
  await expect(deaf.perform(effect, provider.performance)).rejects.toBeInstanceOf(
    JournalUnavailable,
  );
  expect(await statesOf(effect)).toBe("0 notSent");
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-1" });
  expect(provider.sends).toHaveLength(1);
});

test("an answer that PostgreSQL does not take at once is kept until it does", async () => {
  const effect = effectOf({ effectClass: "once" });
  let failures = 3;
  const shaky = new Journal(
    broken(database.pool, /sealed_answer = \$2/, () => failures-- > 0),
    sealers,
    options,
  );
  expect(await shaky.perform(effect, new Provider().performance)).toEqual({ id: "item-1" });
  expect(await statesOf(effect)).toBe("0 answered");
});

test("the pauses between the tries grow, until the next one would outlast the patience", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const tries: number[] = [];
  const lost = failed(
    retryFor(() => {
      tries.push(Date.now());
      return Promise.reject(new Error("PostgreSQL is away"));
    }, 5_000),
  );
  await vi.runAllTimersAsync();
  expect(await lost).toBeInstanceOf(JournalUnavailable);
  expect(tries.map((at) => at - tries[0]!)).toEqual([0, 50, 150, 350, 750, 1_550, 3_150]);
});

test.each([
  ["refuses", Object.assign(new Error(), { syscall: "connect" })],
  ["gives no", new Error("timeout exceeded when trying to connect")],
])(
  "where PostgreSQL %s a connection, nothing was taken: no row is given back",
  async (_, error) => {
    let statements = 0;
    const away = tampered(database.pool, /./, () => {
      statements += 1;
      return Promise.reject(error);
    });
    const attempt = new Journal(away, sealers, { ...options, patienceMs: 0 });
    const failure = await failed(attempt.perform(effectOf(), new Provider().performance));
    expect(failure).toBeInstanceOf(JournalUnavailable);
    expect(failure).toHaveProperty("message", "cannot reach the journal");
    expect(statements).toBe(1);
  },
);

test("a row that others take each time: it gives up, and says for how long they may hold it", async () => {
  const overtaken = tampered(database.pool, /insert into trustflow.effects/, () =>
    Promise.resolve({ rowCount: 0 }),
  );
  const slow = new Journal(overtaken, sealers, options);
  const failure = await failed(slow.perform(effectOf(), new Provider().performance));
  expect(failure).toBeInstanceOf(EffectInFlight);
  expect(failure).toMatchObject({ retryAfterMs: LEASE });
});

test("the late answer to a row that was removed meanwhile is not lost", async () => {
  const effect = effectOf();
  const first = await hanging(effect);
  await database.pool.query("delete from trustflow.effects where token = $1", [effect.token]);
  first.open({ id: "late" });
  expect(await first.result).toEqual({ id: "late" });
});

test("retry: a row and a token of its own, sent once; written twice it is the same decision", async () => {
  const effect = effectOf({ effectClass: "once" });
  await journal.perform(effect, new Provider(noAnswer).performance).catch(() => undefined);
  await database.pass(LEASE);
  expect(await decide(effect, "retry", confirmed)).toMatchObject({
    occurrence: "1",
  });
  expect(await decide(effect, "retry", confirmed)).toMatchObject({
    occurrence: "1",
  });
  const provider = new Provider();
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-1" });
  expect(
    await journal.perform(sameStep(effect, { occurrence: "1" }), provider.performance),
  ).toEqual({ id: "item-1" });
  expect(provider.sends).toMatchObject([{ token: sameStep(effect, { occurrence: "1" }).token }]);
  expect(await statesOf(effect)).toBe("0 sending, 1 answered");
  const standing = { occurrence: "1", answer: { id: "item-1" } };
  expect(await journal.past(effect)).toMatchObject({ standing, made: 2, refused: 0 });
  // A new run counts its attentions from the start again.
  const later = { at: "2026-02-02T00:00:00Z" };
  expect(await decide(effect, "abandon", later)).toMatchObject({ occurrence: "1" });
});

test("retry while a sender may still be at it: refused, with the time when it may be decided", async () => {
  const effect = effectOf({ effectClass: "once" });
  const first = await hanging(effect);
  const refusal = await decide(effect, "retry", confirmed).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(LeaseRunning);
  const now = (await journal.now()).getTime();
  expect((refusal as LeaseRunning).until.getTime()).toBeGreaterThan(now);
  expect((refusal as LeaseRunning).until.getTime()).toBeLessThanOrEqual(now + LEASE);
  await database.pass(LEASE);
  expect((await journal.now()).getTime()).toBeGreaterThanOrEqual(now + LEASE);
  expect(await decide(effect, "retry", confirmed)).toMatchObject({
    occurrence: "1",
  });
  first.open({ id: "late" });
  await first.result;
  const provider = new Provider();
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "late" });
  expect(provider.sends).toHaveLength(0);
});

test("happened: its result is the answer from then on, sealed; a provider's own answer stands against it", async () => {
  const effect = effectOf({ effectClass: "once" });
  const first = await hanging(effect);
  const said = {
    by: "marker-of-an-operator",
    note: "marker-of-a-note",
    result: { id: "marker-by-a-person" },
  };
  expect(await decide(effect, "happened", said)).toMatchObject({ occurrence: "0" });
  expect(await journal.perform(effect, new Provider().performance)).toEqual({
    id: "marker-by-a-person",
  });
  first.open({ id: "late" });
  expect(await first.result).toEqual({ id: "marker-by-a-person" });
  const { rows } = await database.pool.query(
    "select t::text as row from trustflow.effects t where token = $1",
    [effect.token],
  );
  for (const marker of ["marker-by-a-person", "marker-of-a-note", "marker-of-an-operator"])
    expect(rows[0].row).not.toContain(Buffer.from(marker).toString("hex"));
  expect((await journal.rows(effect))[0]?.decisions).toMatchObject([
    { by: "marker-of-an-operator", note: "marker-of-a-note" },
  ]);
  const answered = effectOf();
  await journal.perform(answered, new Provider().performance);
  await decide(answered, "happened", said);
  expect(await journal.perform(answered, new Provider().performance)).toEqual({ id: "item-1" });
});

test("a decision about a step that never reached the journal is kept as well", async () => {
  const effect = effectOf();
  expect(await decide(effect, "happened", { result: { id: "by hand" } })).toMatchObject({
    occurrence: "0",
  });
  expect(await journal.perform(effect, new Provider().performance)).toEqual({ id: "by hand" });
  // From then on it belongs to that input, as what was sent does.
  const another = sameStep(effect, { input: "another" });
  await expect(journal.perform(another, new Provider().performance)).rejects.toThrow(
    EffectMismatch,
  );
  const other = effectOf();
  expect(await decide(other, "retry")).toMatchObject({
    occurrence: "0",
  });
  expect(await journal.perform(other, new Provider().performance)).toEqual({ id: "item-1" });
});

test("abandon while an attempt is about to send: what it says of the effect stays true", async () => {
  const effect = effectOf();
  await journal.perform(effect, new Provider(denied, () => undefined).performance).catch(() => 0);
  const [asked, answer] = [gate<void>(), gate<undefined>()];
  const late = new Provider(undefined, () => {
    asked.open();
    return answer.promise;
  });
  const attempt = journal.perform(effect, late.performance);
  attempt.catch(() => undefined);
  await asked.promise;
  expect(await decide(effect, "abandon")).toMatchObject({
    effect: "none",
  });
  answer.open(undefined);
  await expect(attempt).rejects.toBeInstanceOf(EffectInFlight);
  expect(late.sends).toHaveLength(0);

  // A new start waits until no other sender can be active.
  const next = new Provider(undefined, () => undefined);
  await expect(journal.perform(effect, next.performance)).rejects.toBeInstanceOf(EffectInFlight);
  await database.pass(LEASE);
  expect(await journal.perform(effect, next.performance)).toEqual({ id: "item-1" });
});

test("abandon before the first send: the row holds it off too", async () => {
  const effect = effectOf();
  await decide(effect, "abandon");
  const provider = new Provider();
  await expect(journal.perform(effect, provider.performance)).rejects.toBeInstanceOf(
    EffectInFlight,
  );
  expect(provider.sends).toHaveLength(0);
});

// The pool with a fault in front of or behind the statements that match.
function tampered(
  pool: Pool,
  pattern: RegExp,
  fault: (run: () => Promise<unknown>) => Promise<unknown>,
): Pool {
  const query = (statement: string | { text: string }, ...rest: unknown[]) => {
    const run = () => Reflect.apply(pool.query, pool, [statement, ...rest]) as Promise<unknown>;
    return pattern.test(typeof statement === "string" ? statement : statement.text)
      ? fault(run)
      : run();
  };
  return new Proxy(pool, {
    get: (target, key) => (key === "query" ? query : Reflect.get(target, key)),
  });
}
const delayed = (pool: Pool, pattern: RegExp, meanwhile: () => void) =>
  tampered(pool, pattern, async (run) => {
    const result = await run();
    meanwhile();
    return result;
  });
const deafened = (pool: Pool, pattern: RegExp) =>
  tampered(pool, pattern, async (run) => {
    await run();
    throw Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
  });
const broken = (pool: Pool, pattern: RegExp, fails: () => boolean) =>
  tampered(pool, pattern, (run) =>
    fails() ? Promise.reject(new Error("Connection terminated")) : run(),
  );
