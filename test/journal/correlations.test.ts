// Which process a provider's reference belongs to (docs/design.md §7).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { Journal, JournalUnavailable } from "../../src/journal/journal.js";
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
  await expect(away.correlate(correlationOf())).rejects.toThrow(JournalUnavailable);
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
  expect(await journal.purge(new Date(Date.now() - 3_600_000), isOpen)).toBe(1);
  const left = await Promise.all(
    [open, closed, young].map(async ({ reference }) => (await processesOf(reference)).length),
  );
  expect(left).toEqual([1, 0, 1]);
});
