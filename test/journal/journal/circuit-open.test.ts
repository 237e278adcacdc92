// While the circuit is open, the journal takes no row and makes no call, but returns a known answer.
import { expect, test } from "vitest";
import { EffectAbsentOnce } from "../../../src/journal/journal.js";
import {
  clockedJournal,
  denied,
  effectOf,
  LEASE,
  noAnswer,
  nothing,
  Provider,
} from "../support.js";

const { database, journal } = clockedJournal();

const open = new Error("the circuit is open");
const whileOpen = (provider: Provider) => ({ ...provider.performance, openError: () => open });

test("open: no row is taken", async () => {
  const effect = effectOf();
  const provider = new Provider();
  await expect(journal.perform(effect, whileOpen(provider))).rejects.toBe(open);
  expect(provider.sends).toEqual([]);
  expect(await journal.rows(effect)).toEqual([]);
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-1" });
});

test("open circuit: after a denial no call is made, and the denials are not counted up", async () => {
  const effect = effectOf();
  const provider = new Provider(denied, nothing);
  await expect(journal.perform(effect, provider.performance)).rejects.toBe(denied);
  for (let time = 0; time < 3; time += 1) {
    await expect(journal.perform(effect, whileOpen(provider))).rejects.toBe(open);
  }
  expect([provider.sends.length, provider.lookUps]).toEqual([1, 0]);
  const { rows } = await database.pool.query(
    "select denied, attempts from trustflow.effects where token = $1",
    [effect.token],
  );
  expect(rows).toEqual([{ denied: 1, attempts: 1 }]);
});

test("open: what may have been sent is still looked up, but not sent again", async () => {
  const effect = effectOf();
  const provider = new Provider(noAnswer, nothing);
  await expect(journal.perform(effect, provider.performance)).rejects.toThrow(EffectAbsentOnce);
  await database.pass(LEASE);
  await expect(journal.perform(effect, whileOpen(provider))).rejects.toBe(open);
  expect([provider.sends.length, provider.lookUps]).toEqual([1, 2]);
  provider.onLookUp = () => ({ id: "found" });
  expect(await journal.perform(effect, whileOpen(provider))).toEqual({ id: "found" });
  const watched = journal.perform(effectOf(), whileOpen(provider), { watchOnly: true });
  expect(await watched).toEqual({ id: "found" });
});
