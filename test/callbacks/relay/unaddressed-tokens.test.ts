// Call-closing events that have a token and nothing else (P1 §6.1, docs/decisions/0033): the relay offers the token to the workers, and
// the event waits by itself for what they find. PostgreSQL, journal and parser are real; the test is the worker.
import { expect, test } from "vitest";
import { keyOfAccount } from "../../../src/contracts/shared/sealed-secret.js";
import type { ProcessKey } from "../../../src/crypto/data-key.js";
import { forgetSettled, freeJudged } from "../../../src/callbacks/inbox/unaddressed-tokens.js";
import { UnaddressedTokens } from "../../../src/journal/unaddressed-tokens.js";
import type { UnaddressedToken } from "../../../src/journal/unaddressed-tokens.js";
import { subjectOf } from "../support.js";
import { secretsStand, TOKEN } from "./secrets-stand.js";
import { ofFile } from "../../harness/of-file.js";
import { until } from "../../harness/outages/wait.js";

const of = { provider: "video-identification", account: "default" };
const stand = secretsStand({ gatherMs: 5, scanMs: 50, unmatchedMs: 0, tidyMs: 100 });
const tokens = ofFile(() => new UnaddressedTokens(stand.database.pool));
const arrive = (...bodies: object[]) => stand.arrive(of, bodies);

/** A process that has this conference. */
async function following(reference: string): Promise<ProcessKey> {
  const { namespace, workflowId } = subjectOf();
  await stand.journal.noteReference({ ...of, reference, namespace, workflowId });
  return { namespace, workflowId };
}

/** As a worker takes them, once so many are there. */
async function offered(count: number): Promise<UnaddressedToken[]> {
  const found: UnaddressedToken[] = [];
  await until(async () => {
    found.push(...(await tokens.take(of, 100, 60_000)));
    return found.length >= count;
  });
  return found;
}

const opened = ({ sealed }: UnaddressedToken) =>
  stand.secrets.open(sealed, keyOfAccount(of.provider, of.account));
const states = async () =>
  (await stand.archive.list()).map(({ state, reason, detail }) =>
    [state, reason, detail].filter(Boolean).join(": "),
  );
const settled = (...expected: string[]) =>
  until(async () => JSON.stringify(await states()) === JSON.stringify(expected));

test("the event goes to the process whose conference the provider has shown for its token", async () => {
  const [own, other] = [await following("c-1"), await following("c-2")];
  await arrive({ message: { token: TOKEN } });
  await stand.start();
  const [token] = await offered(1);
  if (!token) throw new Error("no token");
  expect(opened(token)).toBe(TOKEN);
  await tokens.judge(token.callback, "c-1");
  await settled("delivered");
  expect(stand.temporal.signals).toEqual([
    { workflowId: own.workflowId, ids: [expect.any(String)] },
  ]);
  // Its process has the token, and tries it before any other.
  const [kept] = await stand.journal.eventSecrets(own);
  expect(stand.secrets.open(kept?.sealed ?? "", own)).toBe(TOKEN);
  expect(await stand.journal.eventSecrets(other)).toEqual([]);
  const { rows } = await stand.database.pool.query("select opened_at from trustflow.event_secrets");
  expect(rows).toEqual([{ opened_at: expect.any(Date) }]);
  await until(
    async () =>
      (await stand.database.pool.query("select from trustflow.unaddressed_tokens")).rowCount === 0,
  );
});

test("the token stands in clear nowhere, and is gone once it is judged", async () => {
  await arrive({ message: { token: TOKEN } });
  await stand.start();
  const [token] = await offered(1);
  const all = "select t::text as row from trustflow.unaddressed_tokens t";
  expect(JSON.stringify((await stand.database.pool.query(all)).rows)).not.toContain(TOKEN);
  expect(() =>
    stand.secrets.open(token?.sealed ?? "", { namespace: "default", workflowId: "x" }),
  ).toThrow();
  await stand.database.pool.query(
    "update trustflow.callbacks set claimed_until = clock_timestamp() + interval '1 hour', claim = gen_random_uuid()",
  );
  await tokens.judge(token?.callback ?? "");
  const { rows } = await stand.database.pool.query(
    "select sealed from trustflow.unaddressed_tokens",
  );
  expect(rows).toEqual([{ sealed: null }]);
});

test("while tokens wait for a worker, other callbacks of the account arrive; many forged ones hold up none", async () => {
  const own = await following("c-1");
  await stand.start();
  await arrive(...Array.from({ length: 600 }, (_, n) => ({ token: `eyJh.eyJi.forged-${n}` })));
  await arrive({ idConference: "c-1", message: { token: TOKEN } });
  await until(() => stand.temporal.to(own.workflowId).length === 1);
  const { unaddressed, parked } = await stand.archive.counts();
  expect([unaddressed, parked]).toEqual([600, 0]);
});

test("a token that opens nothing parks its event with that reason; a replay has it tried again", async () => {
  const own = await following("c-1");
  await arrive({ message: { token: TOKEN } });
  await stand.start();
  const [token] = await offered(1);
  await tokens.judge(token?.callback ?? "");
  await settled("parked: unmatched: its token opens the data of no process of the account");
  expect(stand.temporal.signals).toEqual([]);
  await stand.archive.replay([(await stand.archive.list())[0]?.id ?? ""]);
  const [again] = await offered(1);
  await tokens.judge(again?.callback ?? "", "c-1");
  await settled("delivered");
  expect(stand.temporal.to(own.workflowId)).toHaveLength(1);
});

test("without the key that seals for the workers it is parked at once, and says so", async () => {
  const warnings: string[] = [];
  await arrive({ message: { token: TOKEN } });
  await stand.start({
    sealSecret: undefined,
    logger: { warn: (text) => void warnings.push(text) },
  });
  await settled("parked: unmatched: keys.secretsPublic is not set");
  expect(warnings).toHaveLength(1);
});

test("twenty thousand tokens are looked through in time, though the statistics are those of an empty queue", async () => {
  const { pool } = stand.database;
  const add = (state: string, from: number, to: number) =>
    pool.query(
      `with stored as (
         insert into trustflow.callbacks (address, identifier, provider, account, state, size, claimed_until)
         select 'an address', n, $1, $2, $3, 1, now() + interval '1 hour' from generate_series($4::int, $5) n returning id)
       insert into trustflow.unaddressed_tokens (callback, provider, account) select id, $1, $2 from stored`,
      [of.provider, of.account, state, from, to],
    );
  await add("parked", 1, 1);
  await pool.query("analyze trustflow.callbacks, trustflow.unaddressed_tokens");
  await add("unaddressed", 2, 20_000);
  await pool.query(
    "update trustflow.unaddressed_tokens set judged_at = now() where callback % 2 = 0",
  );
  for (let round = 0; round < 2; round += 1) await freeJudged(pool);
  await forgetSettled(pool);
  const count = async (sql: string) => (await pool.query(`select from trustflow.${sql}`)).rowCount;
  expect(await count("callbacks where claimed_until is null")).toBe(2_000);
  expect(await count("unaddressed_tokens")).toBe(19_999);
});
