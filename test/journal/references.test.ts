// Which process a provider's reference belongs to (docs/design.md §7).
import { expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { Journal, JournalUnavailable } from "../../src/journal/journal.js";
import { purgeCorrelations, purgeEffects } from "../../src/journal/retention.js";
import { createPool } from "../../src/postgres/pool.js";
import { clockedJournal, effectOf, options, Provider, sealers } from "./support.js";

const { database, journal } = clockedJournal();

function processReference(over: object = {}) {
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
  const reference = processReference({ workflowId: effect.workflowId });
  await journal.noteReference(reference);
  return reference;
}

test("the first process that a reference was given to keeps it, however often and by whom it is said again", async () => {
  const first = processReference();
  const other = { ...first, workflowId: "signOneShot/other" };
  await journal.noteReference(first);
  await Promise.all([first, other, first, other].map((again) => journal.noteReference(again)));
  expect(await processesOf(first.reference)).toEqual([`default default ${first.workflowId}`]);
});

test("the same reference of another account is another process's", async () => {
  const mine = processReference();
  const other = { ...mine, account: "branch", workflowId: "signOneShot/other" };
  await journal.noteReference(mine);
  await journal.noteReference(other);
  expect(await processesOf(mine.reference)).toEqual([
    "branch default signOneShot/other",
    `default default ${mine.workflowId}`,
  ]);
});

test("without the database nothing is said to be known", async () => {
  const pool = createPool("postgres://nobody@127.0.0.1:1/none");
  const away = new Journal(pool, sealers, options);
  const reference = processReference();
  await expect(away.noteReference(reference)).rejects.toThrow(JournalUnavailable);
  await expect(away.reserveReference(reference)).rejects.toThrow(JournalUnavailable);
  await expect(away.takeReference(reference, reference)).rejects.toThrow(JournalUnavailable);
  await expect(away.eventSecrets(reference)).rejects.toThrow(JournalUnavailable);
  await pool.end();
});

test("a reference goes with the last rows of its process, not before, and never while the process is open", async () => {
  const [open, closed, young] = [await known(), await known(), await known()];
  for (const column of ["effects set updated_at", "correlations set created_at"])
    await database.pool.query(
      `update trustflow.${column} = now() - interval '1 day' where workflow_id <> $1`,
      [young.workflowId],
    );
  const isOpen = (_namespace: string, workflowId: string) =>
    Promise.resolve(workflowId === open.workflowId);
  expect(await purgeEffects(database.pool, new Date(Date.now() - 3_600_000), isOpen, 1)).toBe(1);
  const left = await Promise.all(
    [open, closed, young].map(async ({ reference }) => (await processesOf(reference)).length),
  );
  expect(left).toEqual([1, 0, 1]);
});

const ownerOf = ({ namespace, workflowId }: ReturnType<typeof processReference>) => ({
  namespace,
  workflowId,
});

test("a reservation says who has the reference in the end: of several at once, one and the same for all", async () => {
  const reference = randomUUID();
  const wishes = Array.from({ length: 8 }, () => processReference({ reference }));
  const owners = await Promise.all(wishes.map((wish) => journal.reserveReference(wish)));
  const [owner] = owners;
  expect(wishes.map(ownerOf)).toContainEqual(owner);
  expect(owners).toEqual(wishes.map(() => owner));
  for (const wish of wishes) expect(await journal.reserveReference(wish)).toEqual(owner);
  expect(await processesOf(reference)).toEqual([`default default ${owner?.workflowId}`]);
});

test("a reference is taken from the process that has it, once, and by one of several", async () => {
  const first = processReference();
  await journal.reserveReference(first);
  const next = [0, 1, 2].map(() => processReference({ reference: first.reference }));
  const stranger = { namespace: "default", workflowId: "verifyIdentity/stranger" };
  expect(await journal.takeReference(first, stranger)).toBe(false);
  const elsewhere = { ...first, account: "branch" };
  expect(await journal.takeReference(elsewhere, ownerOf(first))).toBe(false);
  const took = await Promise.all(next.map((one) => journal.takeReference(one, ownerOf(first))));
  expect(took.filter(Boolean)).toHaveLength(1);
  const taker = next[took.indexOf(true)] ?? first;
  expect(await journal.referencesOf(ownerOf(taker))).toEqual([first.reference]);
  expect(await journal.referencesOf(ownerOf(first))).toEqual([]);
  expect(await journal.reserveReference(first)).toEqual(ownerOf(taker));
  expect(await journal.takeReference(taker, ownerOf(first))).toBe(false);
});

test("a reference of a process without a row in the journal goes when that is closed, and starts anew with a reservation or a move", async () => {
  const reserved = async () => {
    const reference = processReference();
    await journal.reserveReference(reference);
    return reference;
  };
  const [open, closed, again, moved] = [
    await reserved(),
    await reserved(),
    await reserved(),
    await reserved(),
  ];
  const withEffect = await known();
  await database.pool.query(
    "update trustflow.correlations set created_at = now() - interval '1 day'",
  );
  const young = await reserved();
  await journal.reserveReference(again);
  // That of another process is no reason to keep it.
  await journal.reserveReference({ ...closed, workflowId: again.workflowId });
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

test("a process that is started and reserves its reference again, while the clean-up looks, keeps it", async () => {
  const reference = processReference();
  await journal.reserveReference(reference);
  await database.pool.query(
    "update trustflow.correlations set created_at = now() - interval '1 day' where reference = $1",
    [reference.reference],
  );
  const isOpen = async () => {
    await journal.reserveReference(reference);
    return false;
  };
  await purgeCorrelations(database.pool, new Date(Date.now() - 3_600_000), isOpen);
  expect(await processesOf(reference.reference)).toHaveLength(1);
});
