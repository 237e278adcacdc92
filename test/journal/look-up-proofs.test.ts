// What is remembered of an account's look-up: found, missing, too late, or nothing yet; and when it is looked for again.
import { expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { DecryptionError } from "../../src/crypto/errors.js";
import { Journal } from "../../src/journal/journal.js";
import { LookUpProofs } from "../../src/journal/look-up-proofs.js";
import type { LookUpKey } from "../../src/journal/look-up-proofs.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { Provider, effectOf, ring, sealers } from "./support.js";
import { ofFile } from "../harness/of-file.js";

const SPACING = 20_000;
const INVISIBLE = 70_000;
const database = ofFile(() => testDatabase({ hasClock: true }));

/** As another worker knows them. */
const proofs = () =>
  new LookUpProofs(database.pool, ring, { spacingMs: SPACING, invisibleMs: INVISIBLE });
const keyOf = (over: Partial<LookUpKey> = {}): LookUpKey => ({
  provider: "evi-post",
  account: `account-${randomUUID()}`,
  operation: "submit",
  form: "joined",
  configuration: "digest",
  ...over,
});
const age = (key: LookUpKey, column: "sampled_at" | "found_at" | "next_look_at", span: string) =>
  database.pool.query(
    `update trustflow.look_up_proofs set ${column} = ${column} - $2::interval where account = $1`,
    [key.account, span],
  );

/** Answers by hand, and keeps the queries. */
function finder(found: boolean) {
  const asked: unknown[] = [];
  const find = async (sample: unknown) => {
    asked.push(sample);
    return found;
  };
  return { asked, find };
}

test("the first answered item is looked for at once; found is remembered for every worker", async () => {
  const key = keyOf();
  expect(await proofs().finding(key)).toBe("unproven");
  await proofs().offer(key, "item-1");
  const { asked, find } = finder(true);
  await proofs().look(key, find);
  await proofs().look(key, find);
  expect(asked).toEqual(["item-1"]);
  expect(await proofs().finding(key)).toBe("found");
  const { operation, form, configuration } = key;
  const about = { operation, form, configuration };
  const report = { ...about, finding: "found", foundAt: expect.any(Date), isLooking: false };
  expect(await proofs().report(key)).toEqual([report]);
});

test("where no sample is due, the database is asked only now and then", async () => {
  const [key, found, one] = [keyOf(), keyOf(), proofs()];
  const offers = [];
  for (const item of ["taken", "not due", "not asked"]) offers.push(await one.offer(key, item));
  await one.found(found);
  for (const other of [found, keyOf()]) offers.push(await one.offer(other, "item"));
  expect(offers).toEqual([true, true, false, false, true]);
});

test("it is known for this form and this configuration of this account alone", async () => {
  const key = keyOf();
  await proofs().found(key);
  for (const other of [{ form: "alone" }, { configuration: "another" }, { operation: "upload" }])
    expect(await proofs().finding({ ...key, ...other })).toBe("unproven");
});

test("one early miss says nothing: it is looked for again within the spacing, and then it is found", async () => {
  const key = keyOf();
  const unhurried = new LookUpProofs(database.pool, ring, {
    spacingMs: 60_000,
    invisibleMs: 900_000,
  });
  await unhurried.offer(key, "item-1");
  await unhurried.look(key, finder(false).find);
  expect(await unhurried.finding(key)).toBe("unproven");
  const { asked, find } = finder(true);
  await unhurried.look(key, find);
  expect(asked).toEqual([]);
  await age(key, "next_look_at", "15 seconds");
  await unhurried.look(key, find);
  expect(asked).toEqual(["item-1"]);
  expect(await unhurried.finding(key)).toBe("found");
});

test("missed for as long as an item may be invisible is missing; a later find proves it all the same", async () => {
  const key = keyOf();
  await proofs().offer(key, "item-1");
  const { asked, find } = finder(false);
  for (let passed = 0; passed < 1.4 * INVISIBLE; passed += SPACING / 10) {
    await proofs().look(key, find);
    await database.pass(SPACING / 10);
  }
  expect(await proofs().finding(key)).toBe("missing");
  // At 0, then a quarter, a half, all and twice the spacing, and at the end.
  expect(asked.length).toBeGreaterThanOrEqual(4);
  expect(asked.length).toBeLessThanOrEqual(6);
  await proofs().found(key);
  expect(await proofs().finding(key)).not.toBe("missing");
});

test("found only after longer than two look-ups are apart is late: their silence proves nothing", async () => {
  const key = keyOf();
  await proofs().offer(key, "item-1");
  await age(key, "sampled_at", "25 seconds");
  await proofs().look(key, finder(false).find);
  await age(key, "next_look_at", "1 hour");
  await proofs().look(key, finder(true).find);
  expect(await proofs().finding(key)).toBe("late");
  const patient = new LookUpProofs(database.pool, ring, { spacingMs: 60_000, invisibleMs: 1 });
  expect(await patient.finding(key)).toBe("found");
});

test("what was found is looked for again once a day, what was missed once an hour", async () => {
  const key = keyOf();
  await proofs().found(key);
  await proofs().offer(key, "too early");
  const { asked, find } = finder(false);
  await proofs().look(key, find);
  expect(asked).toEqual([]);
  await age(key, "found_at", "25 hours");
  await proofs().offer(key, "item-2");
  await age(key, "sampled_at", "1 hour");
  await proofs().look(key, find);
  expect(asked).toEqual(["item-2"]);
  expect(await proofs().finding(key)).toBe("missing");
  await age(key, "found_at", "61 minutes");
  await proofs().offer(key, "item-3");
  await proofs().look(key, finder(true).find);
  expect((await proofs().report(key))[0]).toMatchObject({ isLooking: false });
});

test("an answer that does not come says nothing", async () => {
  const key = keyOf();
  await proofs().offer(key, "item-1");
  const away = new Error("away");
  await expect(proofs().look(key, () => Promise.reject(away))).rejects.toBe(away);
  expect(await proofs().finding(key)).toBe("unproven");
  const [report] = await proofs().report(key);
  expect(report).toMatchObject({ finding: "unproven", isLooking: true });
  expect(report).not.toHaveProperty("foundAt");
});

test("a sample that could not be looked up for a day is no result: another one replaces it", async () => {
  const key = keyOf();
  await proofs().offer(key, "item-1");
  await age(key, "sampled_at", "25 hours");
  const { asked, find } = finder(true);
  await proofs().look(key, find);
  expect(asked).toEqual([]);
  await proofs().offer(key, "item-2");
  await proofs().look(key, find);
  expect(asked).toEqual(["item-2"]);
});

test("many at once look once", async () => {
  const key = keyOf();
  const { asked, find } = finder(true);
  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      await proofs().offer(key, `item-${index}`);
      await proofs().look(key, find);
    }),
  );
  expect(asked).toHaveLength(1);
});

test("what was submitted before the look-up was configured can be looked for too, the newest first", async () => {
  const journal = new Journal(database.pool, sealers, { leaseMs: 500, lookUpSpacingMs: 50 });
  const effects = [effectOf(), effectOf(), effectOf({ effectClass: "once" })];
  for (const effect of effects) await journal.perform(effect, new Provider().performance);
  const key = keyOf({ account: "default" });
  const one = proofs();
  const tokens = await one.newestAnswered(key);
  expect(tokens).toEqual(effects.map(({ token }) => token).toReversed());
  expect(await one.newestAnswered(key)).toEqual([]);
});

test("a sample is sealed for its account: it may hold the name of a document", async () => {
  const key = keyOf();
  await proofs().offer(key, { name: "Q7XJ2VK9" });
  const { rows } = await database.pool.query<{ sample: Buffer }>(
    "select sample from trustflow.look_up_proofs where account = $1",
    [key.account],
  );
  expect(rows[0]?.sample.includes("Q7XJ2VK9")).toBe(false);
  const account = `${key.account} of another`;
  await database.pool.query("update trustflow.look_up_proofs set account = $2 where account = $1", [
    key.account,
    account,
  ]);
  const looking = proofs().look({ ...key, account }, finder(true).find);
  await expect(looking).rejects.toThrow(DecryptionError);
});
