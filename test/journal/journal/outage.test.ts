// PostgreSQL away at the worst moments: nothing is sent without the journal, and no answer is lost to a restart.
import { expect, test } from "vitest";
import { Journal, JournalUnavailable } from "../../../src/journal/journal.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { Provider, effectOf, sealers } from "../support.js";
import { ofFile } from "../../harness/of-file.js";

/** What waits for the database waits as long, which is longer than a test may take. */
const LEASE = 600_000;
const database = ofFile(() => testDatabase({ own: true }));
const journal = ofFile(
  () => new Journal(database.pool, sealers, { leaseMs: LEASE, lookUpSpacingMs: 100 }),
);

test("the journal is away: nothing is sent, and it says so quickly", async () => {
  await database.server?.stop();
  const provider = new Provider();
  const failure = await journal
    .perform(effectOf(), provider.performance)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(JournalUnavailable);
  await expect(journal.now()).rejects.toBeInstanceOf(JournalUnavailable);
  expect(provider.sends).toHaveLength(0);
  await database.server?.start();
});

test("the journal goes away during the call and comes back: the answer is stored all the same", async () => {
  const effect = effectOf({ effectClass: "once" });
  const provider = new Provider(async () => {
    await database.server?.stop();
    setTimeout(() => void database.server?.start(), 500);
    return { id: "item-1" };
  });
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-1" });
  expect(await journal.perform(effect, provider.performance)).toEqual({ id: "item-1" });
  expect(provider.sends).toHaveLength(1);
});
