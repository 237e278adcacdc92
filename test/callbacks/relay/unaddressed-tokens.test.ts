// Call-closing events that have a token and nothing else (P1 §6.1, docs/decisions/0037): the relay offers the token to the workers, and
// the event waits by itself for what they find. PostgreSQL, journal and parser are real; the test is the worker.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { CallbackArchive } from "../../../src/callbacks/inbox/archive.js";
import { Arrivals } from "../../../src/callbacks/receiver/arrivals.js";
import { startRelay } from "../../../src/callbacks/relay/relay.js";
import type { Relay, RelayOptions } from "../../../src/callbacks/relay/relay.js";
import { keyOfAccount } from "../../../src/contracts/shared/sealed-secret.js";
import type { ProcessKey } from "../../../src/crypto/data-key.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { Journal } from "../../../src/journal/journal.js";
import { UnaddressedTokens } from "../../../src/journal/unaddressed-tokens.js";
import type { UnaddressedToken } from "../../../src/journal/unaddressed-tokens.js";
import { callbackParsers } from "../../../src/providers/callbacks.js";
import { SecretSealer, WorkerSecrets } from "../../../src/temporal/codec/secrets.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import type { TestDatabase } from "../../harness/stack/postgres.js";
import { sealersIn } from "../../harness/stack/sealers.js";
import { bodyKeys, FakeTemporal, ring, sealRing, subjectOf, until } from "../support.js";

const box = generateBoxRing("secrets");
const sealer = new SecretSealer(KeyRing.parse(box.publicRing));
const secrets = new WorkerSecrets(KeyRing.parse(box.privateRing));
const of = { provider: "video-identification", account: "default" };
const TOKEN = "head.token-of-the-call.mark";

let database: TestDatabase;
let archive: CallbackArchive;
let journal: Journal;
let tokens: UnaddressedTokens;
let temporal: FakeTemporal;
const relays: Relay[] = [];

beforeAll(async () => {
  database = await testDatabase();
  archive = new CallbackArchive(database.pool);
  tokens = new UnaddressedTokens(database.pool);
  const sealers = sealersIn(KeyRing.parse(generateKeyRing("journal")));
  journal = new Journal(database.pool, sealers, { leaseMs: 1_000, lookUpSpacingMs: 1_000 });
});
beforeEach(() => {
  temporal = new FakeTemporal();
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
  await database.pool.query(
    "truncate trustflow.callbacks, trustflow.correlations, trustflow.event_secrets, trustflow.unaddressed_tokens",
  );
});
afterAll(() => database.close());

async function start(over: Partial<RelayOptions> = {}): Promise<void> {
  const { pool } = database;
  const relay = await startRelay({
    ...{ pool, ring, bodyKeys, ...(await callbackParsers({ accounts: {} })) },
    clientFor: () => temporal,
    sealSecret: (secret, processKey) => sealer.seal(secret, processKey),
    ...{ gatherMs: 5, scanMs: 50, leaseMs: 1_000, signalTimeoutMs: 300, unmatchedMs: 0 },
    tidyMs: 100,
    ...over,
  });
  relays.push(relay);
}

async function arrive(...bodies: object[]): Promise<void> {
  const arrivals = bodies.map((body) => ({
    ...{ address: "of the account", identifier: randomUUID(), subject: of },
    body: Buffer.from(JSON.stringify(body)),
  }));
  await new Arrivals(database.pool, sealRing).insert(arrivals, 5_000);
}

/** A process that has this conference. */
async function following(reference: string): Promise<ProcessKey> {
  const { namespace, workflowId } = subjectOf();
  await journal.correlate({ ...of, reference, namespace, workflowId });
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
  secrets.open(sealed, keyOfAccount(of.provider, of.account));
const states = async () =>
  (await archive.list()).map(({ state, reason, detail }) =>
    [state, reason, detail].filter(Boolean).join(": "),
  );
const settled = (...expected: string[]) =>
  until(async () => JSON.stringify(await states()) === JSON.stringify(expected));

test("the event goes to the process whose conference the provider has shown for its token", async () => {
  const [own, other] = [await following("c-1"), await following("c-2")];
  await arrive({ message: { token: TOKEN } });
  await start();
  const [token] = await offered(1);
  if (!token) throw new Error("no token");
  expect(opened(token)).toBe(TOKEN);
  await tokens.judge(token.callback, "c-1");
  await settled("delivered");
  expect(temporal.signals).toEqual([{ workflowId: own.workflowId, ids: [expect.any(String)] }]);
  // Its process has the token, and tries it before any other.
  const [kept] = await journal.eventSecrets(own);
  expect(secrets.open(kept?.sealed ?? "", own)).toBe(TOKEN);
  expect(await journal.eventSecrets(other)).toEqual([]);
  const { rows } = await database.pool.query("select opened_at from trustflow.event_secrets");
  expect(rows).toEqual([{ opened_at: expect.any(Date) }]);
  await until(
    async () =>
      (await database.pool.query("select from trustflow.unaddressed_tokens")).rowCount === 0,
  );
});

test("the token stands in clear nowhere, and is gone once it is judged", async () => {
  await arrive({ message: { token: TOKEN } });
  await start();
  const [token] = await offered(1);
  const all = "select t::text as row from trustflow.unaddressed_tokens t";
  expect(JSON.stringify((await database.pool.query(all)).rows)).not.toContain(TOKEN);
  expect(() =>
    secrets.open(token?.sealed ?? "", { namespace: "default", workflowId: "x" }),
  ).toThrow();
  await database.pool.query(
    "update trustflow.callbacks set claimed_until = clock_timestamp() + interval '1 hour', claim = gen_random_uuid()",
  );
  await tokens.judge(token?.callback ?? "");
  const { rows } = await database.pool.query("select sealed from trustflow.unaddressed_tokens");
  expect(rows).toEqual([{ sealed: null }]);
});

test("while tokens wait for a worker, other callbacks of the account arrive; many forged ones hold up none", async () => {
  const own = await following("c-1");
  await start();
  await arrive(...Array.from({ length: 600 }, (_, n) => ({ token: `eyJh.eyJi.forged-${n}` })));
  await arrive({ idConference: "c-1", message: { token: TOKEN } });
  await until(() => temporal.to(own.workflowId).length === 1);
  const { unaddressed, parked } = await archive.counts();
  expect([unaddressed, parked]).toEqual([600, 0]);
});

test("a token that opens nothing parks its event with that reason; a replay has it tried again", async () => {
  const own = await following("c-1");
  await arrive({ message: { token: TOKEN } });
  await start();
  const [token] = await offered(1);
  await tokens.judge(token?.callback ?? "");
  await settled("parked: unmatched: its token opens the data of no process of the account");
  expect(temporal.signals).toEqual([]);
  await archive.replay([(await archive.list())[0]?.id ?? ""]);
  const [again] = await offered(1);
  await tokens.judge(again?.callback ?? "", "c-1");
  await settled("delivered");
  expect(temporal.to(own.workflowId)).toHaveLength(1);
});

test("what the token opens is of a conference that no process has: parked as unmatched", async () => {
  await arrive({ message: { token: TOKEN } });
  await start();
  const [token] = await offered(1);
  await tokens.judge(token?.callback ?? "", "nobody's");
  await settled("parked: unmatched");
});

test("without the key that seals for the workers it is parked at once, and says so", async () => {
  const warnings: string[] = [];
  await arrive({ message: { token: TOKEN } });
  await start({ sealSecret: undefined, logger: { warn: (text) => void warnings.push(text) } });
  await settled("parked: unmatched: keys.secretsPublic is not set");
  expect(warnings).toHaveLength(1);
});

test("a token that no worker tries is parked after a day", async () => {
  await arrive({ message: { token: TOKEN } });
  await start();
  await offered(1);
  await database.pool.query("update trustflow.callbacks set attempts = 24, claimed_until = null");
  await settled("parked: unmatched: no worker could try its token to the end within a day");
});
