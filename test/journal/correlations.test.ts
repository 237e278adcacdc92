// Which process a provider's reference belongs to (docs/design.md §7).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { Journal, JournalUnavailable } from "../../src/journal/journal.js";
import { purgeCorrelations, purgeEffects } from "../../src/journal/retention.js";
import { createPool } from "../../src/postgres/pool.js";
import { testDatabase } from "../harness/stack/postgres.js";
import type { TestDatabase } from "../harness/stack/postgres.js";
import { Provider, effectOf, sealers } from "./support.js";

const options = { leaseMs: 400, lookUpSpacingMs: 150 };
let database: TestDatabase;
let journal: Journal;
beforeAll(async () => {
  database = await testDatabase();
  journal = new Journal(database.pool, sealers, options);
});
afterAll(() => database.close());

function correlationOf(over: object = {}) {
  return {
    provider: "one-shot-signature",
    account: "default",
    reference: randomUUID(),
    namespace: "default",
    workflowId: `signOneShot/${randomUUID()}`,
    ...over,
  };
}

async function processesOf(reference: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ of: string }>(
    `select account || ' ' || namespace || ' ' || workflow_id as of from trustflow.correlations where reference = $1 order by 1`,
    [reference],
  );
  return rows.map(({ of }) => of);
}

/** A process that has had its one effect and is known by a reference. */
async function known() {
  const effect = effectOf();
  await journal.perform(effect, new Provider().performance);
  const correlation = correlationOf({ workflowId: effect.workflowId });
  await journal.correlate(correlation);
  return correlation;
}

test("the first process that a reference was given to keeps it, however often and by whom it is said again", async () => {
  const first = correlationOf();
  const other = { ...first, workflowId: "signOneShot/other" };
  await journal.correlate(first);
  await Promise.all([first, other, first, other].map((again) => journal.correlate(again)));
  expect(await processesOf(first.reference)).toEqual([`default default ${first.workflowId}`]);
});

test("the same reference of another account is another process's", async () => {
  const mine = correlationOf();
  const other = { ...mine, account: "branch", workflowId: "signOneShot/other" };
  await journal.correlate(mine);
  await journal.correlate(other);
  expect(await processesOf(mine.reference)).toEqual([
    "branch default signOneShot/other",
    `default default ${mine.workflowId}`,
  ]);
});

test("without the database nothing is said to be known", async () => {
  const pool = createPool("postgres://nobody@127.0.0.1:1/none");
  const away = new Journal(pool, sealers, options);
  const correlation = correlationOf();
  await expect(away.correlate(correlation)).rejects.toThrow(JournalUnavailable);
  await expect(away.claimReference(correlation)).rejects.toThrow(JournalUnavailable);
  await expect(away.takeReference(correlation, correlation)).rejects.toThrow(JournalUnavailable);
  await expect(away.eventSecrets(correlation)).rejects.toThrow(JournalUnavailable);
  await pool.end();
});

test("a correlation goes with the last rows of its process, not before, and never while the process is open", async () => {
  const [open, closed, young] = [await known(), await known(), await known()];
  await database.pool.query(
    "update trustflow.effects set updated_at = now() - interval '1 day' where workflow_id <> $1",
    [young.workflowId],
  );
  const isOpen = (_namespace: string, workflowId: string) =>
    Promise.resolve(workflowId === open.workflowId);
  expect(await purgeEffects(database.pool, new Date(Date.now() - 3_600_000), isOpen)).toBe(1);
  const left = await Promise.all(
    [open, closed, young].map(async ({ reference }) => (await processesOf(reference)).length),
  );
  expect(left).toEqual([1, 0, 1]);
});

const ownerOf = ({ namespace, workflowId }: ReturnType<typeof correlationOf>) => ({
  namespace,
  workflowId,
});

test("a claim says who has the reference in the end: of several at once, one and the same for all", async () => {
  const reference = randomUUID();
  const claims = Array.from({ length: 8 }, () => correlationOf({ reference }));
  const owners = await Promise.all(claims.map((claim) => journal.claimReference(claim)));
  const [owner] = owners;
  expect(claims.map(ownerOf)).toContainEqual(owner);
  expect(owners).toEqual(claims.map(() => owner));
  for (const claim of claims) expect(await journal.claimReference(claim)).toEqual(owner);
  expect(await processesOf(reference)).toEqual([`default default ${owner?.workflowId}`]);
});

test("a reference is taken from the process that has it, once, and by one of several", async () => {
  const first = correlationOf();
  await journal.claimReference(first);
  const next = [0, 1, 2].map(() => correlationOf({ reference: first.reference }));
  const stranger = { namespace: "default", workflowId: "verifyIdentity/stranger" };
  expect(await journal.takeReference(first, stranger)).toBe(false);
  const elsewhere = { ...first, account: "branch" };
  expect(await journal.takeReference(elsewhere, ownerOf(first))).toBe(false);
  const took = await Promise.all(next.map((one) => journal.takeReference(one, ownerOf(first))));
  expect(took.filter(Boolean)).toHaveLength(1);
  const taker = next[took.indexOf(true)] ?? first;
  expect(await journal.claimReference(first)).toEqual(ownerOf(taker));
  expect(await journal.takeReference(taker, ownerOf(first))).toBe(false);
});

test("a correlation of a process without a row in the journal goes when that is closed, and starts anew with a claim or a move", async () => {
  const claimed = async () => {
    const correlation = correlationOf();
    await journal.claimReference(correlation);
    return correlation;
  };
  const [open, closed, again, moved] = [
    await claimed(),
    await claimed(),
    await claimed(),
    await claimed(),
  ];
  const withEffect = await known();
  await database.pool.query(
    "update trustflow.correlations set created_at = now() - interval '1 day'",
  );
  const young = await claimed();
  await journal.claimReference(again);
  // That of another process is no reason to keep it.
  await journal.claimReference({ ...closed, workflowId: again.workflowId });
  await journal.takeReference({ ...moved, workflowId: "verifyIdentity/next" }, ownerOf(moved));
  const isOpen = (_namespace: string, workflowId: string) =>
    Promise.resolve(workflowId === open.workflowId);
  await purgeCorrelations(database.pool, new Date(Date.now() - 3_600_000), isOpen, 2);
  const left = await Promise.all(
    [open, closed, again, moved, withEffect, young].map(
      async ({ reference }) => (await processesOf(reference)).length,
    ),
  );
  expect(left).toEqual([1, 0, 1, 1, 1, 1]);
});

test("a process that is started and claims its reference again, while the clean-up looks, keeps it", async () => {
  const correlation = correlationOf();
  await journal.claimReference(correlation);
  await database.pool.query(
    "update trustflow.correlations set created_at = now() - interval '1 day' where reference = $1",
    [correlation.reference],
  );
  const isOpen = async () => {
    await journal.claimReference(correlation);
    return false;
  };
  await purgeCorrelations(database.pool, new Date(Date.now() - 3_600_000), isOpen);
  expect(await processesOf(correlation.reference)).toHaveLength(1);
});
