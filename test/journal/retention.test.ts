// How the journal's rows go: never before a history that was written with their answer.
import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { EffectInFlight, Journal } from "../../src/journal/journal.js";
import { forgetSamples, purgeEffects, purgeStored } from "../../src/journal/retention.js";
import type { Effect } from "../../src/journal/journal.js";
import { untilLockAwaited } from "../harness/documents/document-owners.js";
import {
  clockedJournal,
  effectOf,
  failed,
  options,
  Provider,
  sameStep,
  sealers,
} from "./support.js";

const DAY_MS = 86_400_000;
const { database, journal } = clockedJournal();
beforeEach(() => database.pool.query("truncate trustflow.effects"));

const forgotten = () => Promise.resolve(false);
const purge = () => purgeEffects(database.pool, new Date(Date.now() - 400 * DAY_MS), forgotten);

/** Answered so long ago that its row may go. */
async function answeredLongAgo(effect: Effect): Promise<void> {
  await journal.perform(effect, new Provider().performance);
  await database.pool.query(
    "update trustflow.effects set updated_at = now() - interval '500 days' where token = $1",
    [effect.token],
  );
}

test("a new run that uses an answer keeps all rows of its process for as long again", async () => {
  const [submit, close] = [effectOf(), effectOf({ step: "close" })];
  const ended = sameStep(submit, { step: "close" });
  for (const one of [submit, ended, close]) await answeredLongAgo(one);
  const again = new Provider();
  expect(await journal.perform(submit, again.performance)).toEqual({ id: "item-1" });
  expect(await purge()).toBe(1);
  // What a reset of that run would come to.
  expect(await journal.perform(submit, again.performance)).toEqual({ id: "item-1" });
  expect(again.sends).toEqual([]);
  expect(await journal.rows(submit)).toHaveLength(2);
});

test("a person's late answer renews its row too, whichever occurrence asks for it", async () => {
  const effect = effectOf();
  await answeredLongAgo(effect);
  await database.pool.query("update trustflow.effects set next_occurrence = '1' where token = $1", [
    effect.token,
  ]);
  await database.pool.query(
    `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state, updated_at)
     select gen_random_uuid(), namespace, workflow_id, step, '1', 'notSent', updated_at from trustflow.effects`,
  );
  expect(await journal.perform(effect, new Provider().performance)).toEqual({ id: "item-1" });
  expect(await purge()).toBe(0);
});

test("a run that uses an answer while the retention removes it is waited for, and keeps every row", async () => {
  const submit = effectOf();
  for (const one of [submit, sameStep(submit, { step: "close" })]) await answeredLongAgo(one);
  const run = await database.pool.connect();
  try {
    await run.query("begin");
    await run.query("update trustflow.effects set updated_at = now() where token = $1", [
      submit.token,
    ]);
    const purged = purge();
    await untilLockAwaited(database.pool);
    await run.query("commit");
    expect(await purged).toBe(0);
  } finally {
    run.release();
  }
  expect(await journal.rows(submit)).toHaveLength(2);
});

test("an answer whose row goes at that moment is not used", async () => {
  const effect = effectOf();
  await answeredLongAgo(effect);
  const { pool } = database;
  const query = async (statement: unknown, ...rest: unknown[]) => {
    if ((statement as { name?: string }).name === "effect-renew") await purge();
    return Reflect.apply(pool.query, pool, [statement, ...rest]) as unknown;
  };
  const slow = new Proxy(pool, {
    get: (of, key) => (key === "query" ? query : Reflect.get(of, key)),
  });
  const attempt = new Journal(slow, sealers, options).perform(effect, new Provider().performance);
  expect(await failed(attempt)).toBeInstanceOf(EffectInFlight);
});

test("a reference that a process which runs again has reserved meanwhile stays", async () => {
  const effect = effectOf();
  await answeredLongAgo(effect);
  const about = { provider: "video-identification", account: "default", reference: "c-1" };
  const reserve = () => journal.reserveReference({ ...about, ...effect });
  await reserve();
  await database.pool.query(
    "update trustflow.correlations set created_at = now() - interval '500 days'",
  );
  const isOpen = async () => {
    await reserve();
    return false;
  };
  await purgeEffects(database.pool, new Date(Date.now() - 400 * DAY_MS), isOpen);
  expect(await journal.referencesOf(effect)).toEqual(["c-1"]);
});

test("the event of a closed process goes, unless one of its deliveries has waited for less than a week", async () => {
  const { pool } = database;
  const stored = async (state?: string, age?: string) => {
    const id = randomUUID();
    await pool.query(
      `insert into trustflow.process_events (id, namespace, workflow_id, type, happened_at, data, stored_at)
       values ($1, 'Acme', $1, 'process.ended', now(), '{}', now() - interval '500 days')`,
      [id],
    );
    await pool.query(
      `insert into trustflow.webhook_deliveries (event, namespace, endpoint, state, created_at)
       select $1, 'Acme', 'hooks', $2, now() - $3::interval where $2::text is not null`,
      [id, state, age],
    );
    return id;
  };
  const [open, waiting] = [await stored(), await stored("waiting", "6 days")];
  await stored();
  await stored("delivered", "6 days");
  await stored("waiting", "8 days");
  const isOpen = async (_namespace: string, workflowId: string) => workflowId === open;
  await purgeStored("process_events", pool, new Date(Date.now() - 400 * DAY_MS), isOpen, 2);
  const { rows } = await pool.query<{ id: string }>("select id from trustflow.process_events");
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([open, waiting]));
});

test("an old sample of a look-up goes; what was found stays", async () => {
  const { pool } = database;
  await pool.query(
    `insert into trustflow.look_up_proofs
       (provider, account, operation, form, configuration, finding, sample, sampled_at, next_look_at)
     select 'evi-post', 'default', 'submit', form, '', 'found', 'x', now() - age::interval, now()
     from (values ('new', '23 hours'), ('old', '25 hours')) as given (form, age)`,
  );
  await forgetSamples(pool, new Date(Date.now() - DAY_MS));
  const { rows } = await pool.query(
    `select form, finding, sample is not null as "isLooking", next_look_at is not null as "isDue"
     from trustflow.look_up_proofs order by form`,
  );
  expect(rows).toEqual([
    { form: "new", finding: "found", isLooking: true, isDue: true },
    { form: "old", finding: "found", isLooking: false, isDue: false },
  ]);
});
