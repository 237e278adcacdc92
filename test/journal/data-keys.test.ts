// What the journal keeps of a process is sealed with the process's data key, which is there before anything is sent.
import { expect, test } from "vitest";
import { dataKeyId } from "../../src/crypto/data-key.js";
import { ErasedKeyError, UnknownKeyError } from "../../src/crypto/errors.js";
import { dataKeyOf } from "../../src/crypto/sealed.js";
import { Journal, JournalUnavailable } from "../../src/journal/journal.js";
import {
  clockedJournal,
  effectOf,
  failed,
  options,
  Provider,
  refused,
  sealers,
} from "./support.js";

const person = { attention: "1", by: "Ana", note: "a marker", at: "2026-01-01T00:00:00Z" };
const { database, journal } = clockedJournal();

async function keysOf({ workflowId }: { workflowId: string }): Promise<(string | undefined)[]> {
  const { rows } = await database.pool.query<{ sealed: Buffer }>(
    `select unnest(array[sealed_answer, sealed_decisions]) as sealed from trustflow.effects where workflow_id = $1`,
    [workflowId],
  );
  return rows.flatMap(({ sealed }) => (sealed ? [dataKeyOf(sealed)] : []));
}

test("answers, refusals and decisions are sealed with the key of their process", async () => {
  const answered = effectOf();
  await journal.perform(answered, new Provider().performance);
  await journal.decide(answered, { ...person, decision: "retry" });
  const refusedOne = effectOf();
  await failed(journal.perform(refusedOne, new Provider(refused).performance));
  const happened = effectOf();
  await journal.decide(happened, { ...person, decision: "happened", result: { id: "item" } });
  expect(await keysOf(answered)).toEqual([dataKeyId(answered), dataKeyId(answered)]);
  expect(await keysOf(refusedOne)).toEqual([dataKeyId(refusedOne)]);
  expect(await keysOf(happened)).toEqual([dataKeyId(happened), dataKeyId(happened)]);
  expect(await journal.perform(happened, new Provider().performance)).toEqual({ id: "item" });
});

test.each([
  ["a store that cannot be written", new Error("ENOSPC"), JournalUnavailable],
  ["a ring that lacks a key", new UnknownKeyError("old"), UnknownKeyError],
  ["a process that was erased", new ErasedKeyError(), ErasedKeyError],
])("with %s nothing is sent, and no row is taken", async (_, error, expected) => {
  const locked = new Journal(database.pool, { of: () => Promise.reject(error) }, options);
  const effect = effectOf();
  const provider = new Provider();
  expect(await failed(locked.perform(effect, provider.performance))).toBeInstanceOf(expected);
  expect(provider.sends).toEqual([]);
  const { rowCount } = await database.pool.query(
    "select 1 from trustflow.effects where workflow_id = $1",
    [effect.workflowId],
  );
  expect(rowCount).toBe(0);
});

test("an effect loads the key once, before the call: if the store becomes unavailable, no answer is lost", async () => {
  let asked = 0;
  const once = {
    of: (processKey: Parameters<typeof sealers.of>[0]) =>
      asked++ === 0 ? sealers.of(processKey) : Promise.reject(new Error("away")),
  };
  const effect = effectOf();
  const fragile = new Journal(database.pool, once, options);
  expect(await fragile.perform(effect, new Provider().performance)).toEqual({ id: "item-1" });
  expect(asked).toBe(1);
});
