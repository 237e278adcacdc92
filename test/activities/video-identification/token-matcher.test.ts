// The worker's search for the conference of a token that came alone (P1 §6.1, docs/decisions/0033): a real journal beside a simulated
// service. Nothing but the service's own answer binds a token.
import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import { TokenMatcher } from "../../../src/activities/video-identification/token-matcher.js";
import type { MatcherTimes } from "../../../src/activities/video-identification/token-matcher.js";
import { offerTokens } from "../../../src/callbacks/inbox/unaddressed-tokens.js";
import { keyOfAccount } from "../../../src/contracts/shared/sealed-secret.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { Journal } from "../../../src/journal/journal.js";
import { UnaddressedTokens } from "../../../src/journal/unaddressed-tokens.js";
import type { VideoIdentificationAccount } from "../../../src/providers/video-identification/client.js";
import { SoleHolder } from "../../../src/postgres/sole-holder.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { WorkerSecrets } from "../../../src/temporal/codec/secrets.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { sealersIn } from "../../harness/stack/sealers.js";
import { accountAt, pointers } from "../../providers/video-identification/account.js";
import { videoCaller } from "../../../packages/sandbox/test/providers/video-identification/caller.js";
import { until } from "../../harness/outages/wait.js";
import { ofFile } from "../../harness/of-file.js";

const provider = "video-identification";
const namespace = "default";
const secrets = new WorkerSecrets(KeyRing.parse(generateBoxRing().privateRing));

const database = ofFile(testDatabase);
const sandbox = ofFile(() => startSandbox({ speed: "manual" }));
const tokens = ofFile(() => new UnaddressedTokens(database.pool));
const journal = ofFile(
  () => new Journal(database.pool, sealersIn(), { leaseMs: 1_000, lookUpSpacingMs: 1_000 }),
);
afterEach(async () => {
  sandbox.faults.clear();
  for (const holder of holders.splice(0)) holder.close();
  await database.pool.query("truncate trustflow.unaddressed_tokens, trustflow.correlations");
});

const holders: SoleHolder[] = [];
function holderOf(account: string): SoleHolder {
  const holder = new SoleHolder(database.pool, account);
  holders.push(holder);
  return holder;
}

let lastCallback = 0;

/** An account of its own, whose open processes have these conferences. */
async function matching(
  conferences: string[],
  {
    times = {},
    account: over = {},
  }: { times?: Partial<MatcherTimes>; account?: Partial<VideoIdentificationAccount> } = {},
) {
  const name = `a-${randomUUID()}`;
  const account = accountAt(sandbox.url, {
    ...{ name, apiKey: new Secret("sandbox-api-key"), pointers },
    ...over,
  });
  for (const reference of conferences) await have(reference, namespace);

  /** A process of this namespace gets the conference. */
  function have(reference: string, ofNamespace: string): Promise<void> {
    const owner = { namespace: ofNamespace, workflowId: `verifyIdentity/${randomUUID()}` };
    return journal.noteReference({ provider, account: name, reference, ...owner });
  }
  const problems: string[] = [];
  const calls: string[] = [];
  const worker = () =>
    new TokenMatcher(
      {
        ...{ tokens, secrets, accounts: { [name]: account } },
        holder: holderOf(name),
        circuits: new Circuits({ probeMs: 1_000, failures: 5 }),
        onCall: (operation, result) => {
          if (operation === "conferenceData") calls.push(result);
        },
        warn: (message) => void problems.push(message),
      },
      { retryMs: 0, ...times },
    );
  const [matcher, other] = [worker(), worker()];

  async function bring(token: string): Promise<string> {
    const callback = String((lastCallback += 1));
    const sealed = secrets.seal(token, keyOfAccount(provider, name));
    await offerTokens(database.pool, [{ callback, provider, account: name, sealed }]);
    return callback;
  }

  return {
    ...{ name, bring, have, calls, problems, matcher },
    round: () => matcher.round(),
    anotherWorker: () => other.round(),
  };
}

async function found(callback: string) {
  const { rows } = await database.pool.query<{ reference: string | null; isJudged: boolean }>(
    `select reference, judged_at is not null as "isJudged" from trustflow.unaddressed_tokens where callback = $1`,
    [callback],
  );
  return rows[0];
}

const change = (callback: string, to: string) =>
  database.pool.query(`update trustflow.unaddressed_tokens set ${to} where callback = $1`, [
    callback,
  ]);
const age = (callback: string) => change(callback, "stored_at = stored_at - interval '2 hours'");
const due = (callback: string) => change(callback, "due_at = clock_timestamp()");

const caller = () => videoCaller(sandbox);
const bringAll = (count: number) =>
  Promise.all(Array.from({ length: count }, () => caller().bring()));
const matched = (reference: string) => ({ reference, isJudged: true });
const open = { reference: null, isJudged: false };
const nothing = { reference: null, isJudged: true };

test("the conference that the claims name is asked first; the claims alone bind nothing", async () => {
  const conferences = await bringAll(4);
  const [first = "", second = ""] = conferences;
  const { name, bring, round, calls } = await matching(conferences, { times: { invisibleMs: 0 } });
  const genuine = await bring(await caller().tokenOf(second));
  await round();
  expect(calls).toEqual(["ok"]);
  const [head, , mark] = (await caller().tokenOf(second)).split(".");
  const claims = Buffer.from(JSON.stringify({ conf: first, idConference: first })).toString(
    "base64url",
  );
  const forged = await bring(`${head}.${claims}.${mark}`);
  await round();
  expect(calls).toHaveLength(1 + conferences.length);
  expect(await found(genuine)).toEqual(matched(second));
  expect(await found(forged)).toEqual(nothing);
  expect(await tokens.areDue(provider, [name])).toBe(false);
});

test("of an account with many conferences a round asks for ten; each is asked for once, and forged tokens do not hide a genuine one", async () => {
  const conferences = await bringAll(23);
  const { bring, round, calls } = await matching(conferences, { times: { invisibleMs: 0 } });
  const forged = [await bring("eyJh.eyJi.one"), await bring("eyJh.eyJi.two")];
  await round();
  expect(calls).toHaveLength(20);
  const last = conferences.at(-1) ?? "";
  const genuine = await bring(await caller().tokenOf(last));
  // It was tried least, so it is not behind the forged ones, which are not through yet.
  await round();
  expect(await found(genuine)).toEqual(matched(last));
  expect(await found(forged[1] ?? "")).toEqual(open);
  for (let more = 0; more < 4; more += 1) await round();
  for (const callback of forged) expect(await found(callback)).toEqual(nothing);
  expect(calls.filter((result) => result === "accessDenied")).toHaveLength(2 * 23);
});

test("a token whose claims name a conference of ours does not stand behind forged ones that nobody has tried", async () => {
  const conferences = await bringAll(3);
  const { bring, round } = await matching(conferences);
  const [, ours = ""] = conferences;
  const strange = Buffer.from(JSON.stringify({ a: "\0", b: "\ud800", c: {} })).toString(
    "base64url",
  );
  for (let forged = 0; forged < 10; forged += 1) await bring(`eyJh.${strange}.${forged}`);
  const genuine = await bring(await caller().tokenOf(ours));
  await round();
  expect(await found(genuine)).toEqual(matched(ours));
});

test("a conference that becomes ours in time is found, as one whose data the service shows late", async () => {
  const [late = "", ours = ""] = await bringAll(2);
  const { bring, round } = await matching([]);
  const callback = await bring(await caller().tokenOf(ours));
  await round();
  expect(await found(callback)).toEqual(open);
  const two = await matching([late]);
  const second = await two.bring(await caller().tokenOf(late));
  sandbox.faults.add({
    operation: `${provider}.conferenceData`,
    kind: "reject",
    status: 404,
    times: 1,
  });
  await two.round();
  expect(await found(second)).toEqual(open);
  await due(second);
  await two.round();
  expect(await found(second)).toEqual(matched(late));
});

test("while the service is busy, a token is not given up", async () => {
  const [ours = ""] = await bringAll(1);
  const { bring, round } = await matching([ours], { times: { invisibleMs: 0, retryMs: 50 } });
  const callback = await bring(await caller().tokenOf(ours));
  const operation = `${provider}.conferenceData`;
  sandbox.faults.add({ operation, kind: "reject", status: 429, times: 1 });
  await round();
  expect(await found(callback)).toEqual(open);
  await until(async () => {
    await due(callback);
    await round();
    return (await found(callback))?.isJudged === true;
  });
  expect(await found(callback)).toEqual(matched(ours));
});

test.each([401, 404, 503])(
  "while a gateway answers %i for the whole service, no token is given up, and no refusal stays",
  async (status) => {
    const [ours = ""] = await bringAll(1);
    const { bring, round } = await matching([ours], { times: { invisibleMs: 0 } });
    const callback = await bring(await caller().tokenOf(ours));
    await age(callback);
    for (const operation of ["conferenceData", "genAPIToken"])
      sandbox.faults.add({ operation: `${provider}.${operation}`, kind: "reject", status });
    await round();
    expect(await found(callback)).toEqual(open);
    sandbox.faults.clear();
    await due(callback);
    await round();
    expect(await found(callback)).toEqual(matched(ours));
  },
);

test("a process of another namespace with the same account has its token; without any conference nothing is given up", async () => {
  const [theirs = ""] = await bringAll(1);
  const { bring, round, have } = await matching([], { times: { invisibleMs: 0 } });
  const callback = await bring(await caller().tokenOf(theirs));
  await age(callback);
  await round();
  expect(await found(callback)).toEqual(open);
  await have(theirs, "another");
  await due(callback);
  await round();
  expect(await found(callback)).toEqual(matched(theirs));
});

test("of an account with very many conferences the newest are tried, and one that the claims name, however old", async () => {
  const [old = "", forgotten = ""] = await bringAll(2);
  const { name, bring, round, calls } = await matching([old, forgotten]);
  await database.pool.query(
    "update trustflow.correlations set created_at = created_at - interval '1 day'",
  );
  await database.pool.query(
    `insert into trustflow.correlations (provider, account, reference, namespace, workflow_id)
     select $1, $2, 'newer-' || n, 'default', 'verifyIdentity/' || n from generate_series(1, 500) n`,
    [provider, name],
  );
  const known = await tokens.references({ provider, account: name }, [old, "no-one's"], 500);
  expect(known).toHaveLength(501);
  expect(known).toContain(old);
  const callback = await bring(await caller().tokenOf(old));
  await round();
  expect(await found(callback)).toEqual(matched(old));
  expect(calls).toEqual(["ok"]);
});

test("data that do not name their conference bind nothing", async () => {
  const [ours = ""] = await bringAll(1);
  const account = { pointers: { ...pointers, conference: undefined } };
  const { bring, round } = await matching([ours], { times: { invisibleMs: 0 }, account });
  const callback = await bring(await caller().tokenOf(ours));
  await round();
  expect(await found(callback)).toEqual(nothing);
});

test("where the token alone says the conference, one call is enough", async () => {
  const conferences = await bringAll(5);
  const account = { conferenceParameter: undefined };
  const { bring, round, calls } = await matching(conferences, { account });
  const last = conferences.at(-1) ?? "";
  const callback = await bring(await caller().tokenOf(last));
  await round();
  expect(await found(callback)).toEqual(matched(last));
  expect(calls).toEqual(["ok"]);
});

test("one worker at a time tries the tokens of an account, another one once the first is gone", async () => {
  const { bring, round, anotherWorker, calls } = await matching(await bringAll(1));
  for (let forged = 0; forged < 5; forged += 1) await bring(`eyJh.eyJi.${forged}`);
  await round();
  expect(calls).toHaveLength(2);
  await anotherWorker();
  expect(calls).toHaveLength(2);
  await round();
  expect(calls).toHaveLength(4);
  for (const holder of holders) holder.close();
  for (let tries = 0; tries < 200 && calls.length === 4; tries += 1) await anotherWorker();
  expect(calls).toHaveLength(5);
});

test("a token that was sealed with a key that this worker lacks waits for another worker", async () => {
  const [ours = ""] = await bringAll(1);
  const { bring, round, calls, problems } = await matching([ours], { times: { invisibleMs: 0 } });
  const callback = await bring("trustflow-sealed:AAAA");
  await round();
  expect(await found(callback)).toEqual(open);
  expect([calls, problems]).toEqual([[], []]);
});

test("it runs by itself until it is closed", async () => {
  const [ours = ""] = await bringAll(1);
  const { bring, matcher } = await matching([ours], { times: { pauseMs: 10 } });
  const running = matcher.run();
  const callback = await bring(await caller().tokenOf(ours));
  await until(async () => (await found(callback))?.isJudged === true);
  expect(await found(callback)).toEqual(matched(ours));
  matcher.close();
  await running;
});
