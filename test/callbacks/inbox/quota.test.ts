// What one callback address may bring, and for how long: the receiver over HTTP with a real PostgreSQL, and the relay
// (docs/decisions/0020).
import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { addressOf } from "../../../src/callbacks/address.js";
import type { Subject } from "../../../src/callbacks/address.js";
import { Arrivals } from "../../../src/callbacks/receiver/arrivals.js";
import type { Wake } from "../../../src/callbacks/inbox/inbox.js";
import { defaultQuota, maxQuota } from "../../../src/contracts/shared/callback-quota.js";
import { startReceiver } from "../../../src/callbacks/receiver/receiver.js";
import type { Receiver } from "../../../src/callbacks/receiver/receiver.js";
import { createPool } from "../../../src/postgres/pool.js";
import { untilLockAwaited } from "../../harness/documents/document-owners.js";
import { bodyKeys, post, ring, sealRing, subjectOf } from "../support.js";
import { until } from "../../harness/outages/wait.js";
import { relayStand } from "../relay/relay-stand.js";

const quota = {
  ...defaultQuota,
  eventsPerProcess: 3,
  rowsPerAddress: 5,
  bytesPerAddress: 1_000,
  accountRowsPerDay: 4,
};
const DAY_MS = 86_400_000;

const { temporal, database, archive, inbox, start } = relayStand({
  ...{ gatherMs: 5, scanMs: 50, signalTimeoutMs: 500, leaseMs: 5_000 },
});
const receivers: Receiver[] = [];
afterEach(() => Promise.all(receivers.splice(0).map((one) => one.close())));

/** Each receiver has its own memory of what was refused. */
async function receive(over: Partial<Parameters<typeof startReceiver>[0]> = {}): Promise<Receiver> {
  const { pool } = database;
  const given = { pool, ring, sealRing, host: "127.0.0.1", port: 0, quota, ...over };
  const receiver = await startReceiver(given);
  receivers.push(receiver);
  return receiver;
}

/** As a receiver stores them in one commit. */
const insert = (subjects: Subject[], identifiers: string[], limits = quota) =>
  new Arrivals(database.pool, sealRing, limits).insert(
    subjects.flatMap((subject) =>
      identifiers.map((identifier) => ({
        ...{ address: addressOf(subject), subject, identifier, issuedBefore: new Date() },
        body: Buffer.from("{}"),
      })),
    ),
    10_000,
  );

async function send(receiver: Receiver, subject: Subject, ids: string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const Identifier of ids)
    statuses.push((await post(receiver.url, subject, { Identifier })).status);
  return statuses;
}

const ids = (count: number, prefix = "e") =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
const states = async (workflowId: string) =>
  (await archive.list({ workflowId })).map(({ state }) => state).toReversed();
const counted = (subject: Subject) => countedAt(addressOf(subject));
const countedAt = async (address: string) => {
  const { rows } = await database.pool.query(
    "select rows, surplus, refused, wakes from trustflow.callback_addresses where address = $1",
    [address],
  );
  return rows[0] as { rows: number; surplus: number; refused: number; wakes: number };
};

test("of the first callbacks the process is told, the next are kept as surplus, the others are refused with 429 and kept nowhere", async () => {
  const [receiver, subject, other] = [await receive(), subjectOf(), subjectOf()];
  expect(await send(receiver, subject, ids(7))).toEqual([204, 204, 204, 204, 204, 429, 429]);
  const kept = ["waiting", "waiting", "waiting", "surplus", "surplus"];
  expect(await states(subject.workflowId)).toEqual(kept);
  expect(await counted(subject)).toMatchObject({ rows: 5, surplus: 2 });
  // What another address brings is another matter.
  expect(await send(receiver, other, ids(1))).toEqual([204]);
  const [row] = await archive.list({ workflowId: subject.workflowId, states: ["surplus"] });
  expect((await archive.show(row?.id ?? "", bodyKeys))?.body).toBe('{"Identifier":"e-4"}');
});

test("a refusal says when to come again, and asks the database once", async () => {
  const events = new Map<string, number>();
  const onEvent = (event: string, count: number) =>
    void events.set(event, (events.get(event) ?? 0) + count);
  const [receiver, subject] = [await receive({ onEvent }), subjectOf()];
  await send(receiver, subject, ids(25));
  expect(events.get("full")).toBe(20);
  expect(await counted(subject)).toMatchObject({ rows: 5, refused: 1 });
  const response = await post(receiver.url, subject, { Identifier: "late" });
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3600"]);
});

test("the bytes of an address are counted too", async () => {
  const [receiver, subject] = [await receive(), subjectOf()];
  const large = { Identifier: "large", note: "x".repeat(900) };
  expect((await post(receiver.url, subject, large)).status).toBe(204);
  expect((await post(receiver.url, subject, { ...large, Identifier: "more" })).status).toBe(429);
});

test("a duplicate takes no room, and is acknowledged at a full address by a receiver that has not refused it lately", async () => {
  const [receiver, subject] = [await receive(), subjectOf()];
  expect(await send(receiver, subject, ["a", "a", "a", "a", "a", "a", "b"])).toEqual(
    Array(7).fill(204),
  );
  expect(await counted(subject)).toMatchObject({ rows: 2 });
  await send(receiver, subject, ids(3));
  expect(await send(await receive(), subject, ["a", "c", "a"])).toEqual([204, 429, 429]);
});

test("copies of one callback in a batch get one answer: none is acknowledged where none is stored", async () => {
  const subject = subjectOf();
  const stored = ["stored", "duplicate", "stored", "stored", "stored", "stored", "full"];
  expect(await insert([subject], ["a", "a", "b", "c", "d", "e", "f"])).toEqual(stored);
  expect(await insert([subject], ["f", "a", "f"])).toEqual(["full", "duplicate", "full"]);
});

test("receivers side by side store no more than the quota, and a batch is judged callback by callback", async () => {
  const subject = subjectOf();
  const results = await Promise.all(
    [0, 1, 2, 0].map((prefix) => insert([subject], ids(4, String(prefix)))),
  );
  const { rows, refused } = await counted(subject);
  expect(rows).toBe(5);
  expect(results.flat().filter((result) => result === "stored")).toHaveLength(5);
  expect(results.flat().filter((result) => result === "full")).toHaveLength(refused);
  expect(await states(subject.workflowId)).toHaveLength(5);
});

test("a day is one of UTC: a session in another time zone gets no new one", async () => {
  const subject = { provider: "test-account", account: "default" };
  const stored: string[] = [];
  for (const zone of ["Etc/GMT+12", "Pacific/Kiritimati"]) {
    const pool = createPool(`${database.url}?options=-c%20timezone%3D${encodeURIComponent(zone)}`);
    const arrival = { address: "an account's", subject, identifier: zone, body: Buffer.from("{}") };
    const limits = { ...quota, accountRowsPerDay: 1 };
    stored.push(...(await new Arrivals(pool, sealRing, limits).insert([arrival], 10_000)));
    await pool.end();
  }
  expect(stored).toEqual(["stored", "full"]);
});

test("the database measures bodies itself, and takes no limit beyond the largest of the configuration", async () => {
  const boundless = Object.fromEntries(Object.keys(maxQuota).map((key) => [key, 2_000_000_000]));
  for (const subject of [subjectOf(), { provider: "test-account", account: "full" }]) {
    const store = (identifier: string) =>
      insert([subject], [identifier], { ...quota, ...boundless });
    expect(await store("a")).toEqual(["stored"]);
    const { rows } = await database.pool.query<{ exact: boolean }>(
      "select bool_and(size = octet_length(body)) as exact from trustflow.callbacks",
    );
    expect(rows[0]?.exact).toBe(true);
    const isProcess = "workflowId" in subject;
    const most = isProcess ? "rowsPerAddress" : "accountRowsPerDay";
    const maxBytes = isProcess ? "bytesPerAddress" : "accountBytesPerDay";
    const holds = (rows: number, bytes: number) =>
      database.pool.query(
        "update trustflow.callback_addresses set rows = $2, bytes = $3 where address = $1",
        [addressOf(subject), rows, bytes],
      );
    await holds(maxQuota[most], 0);
    expect(await store("b")).toEqual(["full"]);
    await holds(0, maxQuota[maxBytes]);
    expect(await store("c")).toEqual(["full"]);
    await holds(maxQuota[most] - 1, 0);
    expect(await store("d")).toEqual(["stored"]);
    if (!isProcess) continue;
    await holds(maxQuota.eventsPerProcess - 1, 0);
    expect(await store("e")).toEqual(["stored"]);
    expect(await store("f")).toEqual(["stored"]);
    const told = ["waiting", "surplus", "waiting", "surplus"];
    expect(await states(subject.workflowId)).toEqual(told);
  }
});

test("addresses are locked in order, and one that is forgotten meanwhile is stored anew", async () => {
  const subjects = [subjectOf(), subjectOf()].toSorted((a, b) =>
    addressOf(a) < addressOf(b) ? -1 : 1,
  );
  const [first = "", second = ""] = subjects.map(addressOf);
  const count = "insert into trustflow.callback_addresses (address) values ($1)";
  await database.pool.query(count, [first]);
  const client = await database.pool.connect();
  await client.query("begin");
  await client.query("select from trustflow.callback_addresses where address = $1 for update", [
    first,
  ]);
  const results = insert(subjects, ["a"]);
  await untilLockAwaited(database.pool);
  // It waits for the first one, so it has not taken the second one yet.
  await client.query("set local lock_timeout = '500ms'; savepoint before");
  const taken = await client.query(count, [second]).then(
    () => "free",
    ({ code }: { code: string }) => code,
  );
  await client.query("rollback to before");
  await client.query("delete from trustflow.callback_addresses where address = $1", [first]);
  await client.query("commit");
  client.release();
  expect(await results).toEqual(["stored", "stored"]);
  expect(taken).toBe("free");
});

test("an account's address has its quota anew each day", async () => {
  const account = { provider: "test-account", account: "default" };
  const address = addressOf(account);
  expect(await send(await receive(), account, ids(6))).toEqual([204, 204, 204, 204, 429, 429]);
  await database.pool.query(
    "update trustflow.callback_addresses set counted_on = current_date - 1 where address = $1",
    [address],
  );
  expect(await send(await receive(), account, ids(1, "next"))).toEqual([204]);
  // The excess of the day before is no flood of today.
  expect(await counted(account)).toMatchObject({ rows: 1, refused: 0 });
  expect(await send(await receive(), account, ids(4, "more"))).toEqual([204, 204, 204, 429]);
  expect(await counted(account)).toMatchObject({ rows: 4, refused: 1 });
});

test("a body to an account's address is small, so that rows and not bytes bound what it brings on a day", async () => {
  const [receiver, account] = [await receive(), { provider: "test-account", account: "default" }];
  const body = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));
  expect((await post(receiver.url, account, body(16_385))).status).toBe(413);
  expect(await counted(account)).toBeUndefined();
  expect((await post(receiver.url, account, body(16_384))).status).toBe(204);
  const { rows } = await database.pool.query<{ size: number }>(
    "select size from trustflow.callbacks",
  );
  const most = (rows[0]?.size ?? Infinity) * defaultQuota.accountRowsPerDay;
  expect(most).toBeLessThanOrEqual(defaultQuota.accountBytesPerDay);
  expect((await post(receiver.url, subjectOf(), body(16_385))).status).toBe(429);
});

test("what comes to an account's address counts for its process, which is told of as many", async () => {
  const workflowId = `signOneShot/${randomUUID()}`;
  await database.pool.query(
    "insert into trustflow.correlations values ('test-account', 'default', $1, 'default', $2)",
    [workflowId, workflowId],
  );
  const account = { provider: "test-account", account: "default" };
  await send(await receive(), account, ids(4));
  const claim = randomUUID();
  const rows = await inbox.claimUnaddressed(claim, 5_000);
  const referred = rows.map((row) => ({ row, reference: workflowId }));
  expect((await inbox.address(claim, referred.slice(0, 3), 2)).size).toBe(3);
  expect(await states(workflowId)).toEqual(["waiting", "waiting", "surplus"]);
  expect((await inbox.address(claim, referred.slice(3), 2)).size).toBe(1);
  expect(await states(workflowId)).toEqual(["waiting", "waiting", "surplus", "surplus"]);
  const own = addressOf({ provider: "test-account", namespace: "default", workflowId });
  expect(await countedAt(`account:${own}`)).toMatchObject({ rows: 4, surplus: 2 });
  await expect(
    new Arrivals(database.pool, sealRing, quota).insert(
      [{ address: `account:${own}`, subject: account, identifier: "x", body: Buffer.from("{}") }],
      10_000,
    ),
  ).rejects.toThrow("this address is the relay's");
});

test("the process is told that there is surplus: at once, then at growing distances, also of what was refused", async () => {
  const [receiver, subject] = [await receive(), subjectOf()];
  const { workflowId } = subject;
  await start();
  await send(receiver, subject, ids(4));
  await until(() => temporal.surplus.length === 1);
  expect(temporal.surplus).toEqual([{ workflowId, count: 1 }]);
  await until(async () => temporal.to(workflowId).length === 3);
  expect(temporal.to(workflowId)).toEqual(["e-0", "e-1", "e-2"]);

  await send(receiver, subject, ids(3, "f"));
  const due = async () => {
    const { rows } = await database.pool.query<{ seconds: number | null }>(
      `select extract(epoch from wake_at - woken_at)::float8 as seconds
       from trustflow.callback_addresses where address = $1`,
      [addressOf(subject)],
    );
    return rows[0]?.seconds;
  };
  expect(await due()).toBeCloseTo(60, 0);
  await database.pool.query("update trustflow.callback_addresses set wake_at = now()");
  await until(() => temporal.surplus.length === 2);
  // Two are stored; of the two that were refused the second one did not reach the database.
  expect(temporal.surplus[1]).toEqual({ workflowId, count: 3 });
  await until(async () => (await due()) === null);
  await send(await receive(), subject, ids(1, "g"));
  expect(await due()).toBeCloseTo(120, 0);
  await database.pool.query("update trustflow.callback_addresses set wakes = 30");
  await database.pool.query("update trustflow.callback_addresses set wake_at = null");
  await send(await receive(), subject, ids(1, "h"));
  expect(await due()).toBeCloseTo(86_400, 0);
});

test("where Temporal is away, the process is told a minute later", async () => {
  const [receiver, subject] = [await receive(), subjectOf()];
  let isTold = false;
  temporal.answer = () => {
    isTold = true;
    throw Object.assign(new Error("busy"), { code: 2 });
  };
  await send(receiver, subject, ids(4));
  const relay = await start();
  await until(() => isTold);
  await relay.close();
  const { rows } = await database.pool.query(
    "select 1 from trustflow.callback_addresses where wake_at > now() + interval '30 seconds'",
  );
  expect(rows).toHaveLength(1);
  expect(temporal.surplus).toEqual([]);
});

test("a relay that dies before it has told the process loses no notification, nor is one lost that comes meanwhile", async () => {
  const [receiver, subject] = [await receive(), subjectOf()];
  await send(receiver, subject, ids(4));
  const claim = async () => {
    await database.pool.query(
      "update trustflow.callback_addresses set wake_at = now() where address = $1",
      [addressOf(subject)],
    );
    const wakes = await inbox.claimWakes();
    return wakes.find(({ workflowId }) => workflowId === subject.workflowId) as Wake;
  };
  const due = async () => {
    const { rows } = await database.pool.query<{ isDue: boolean }>(
      `select wake_at is not null as "isDue" from trustflow.callback_addresses where address = $1`,
      [addressOf(subject)],
    );
    return rows[0]?.isDue;
  };
  const lost = await claim();
  expect([lost.count, await due()]).toEqual([1, true]);
  const told = await claim();
  await send(receiver, subject, ["meanwhile"]);
  await inbox.woken(told);
  expect(await due()).toBe(true);
  const last = await claim();
  // One that took too long has no say any more.
  await inbox.woken(lost);
  expect([last.count, await due()]).toEqual([2, true]);
  await inbox.woken(last);
  expect(await due()).toBe(false);
});

test("surplus is replayed by hand: the process is told of it as of any other", async () => {
  const [receiver, subject] = [await receive(), subjectOf()];
  await send(receiver, subject, ids(4));
  const [row] = await archive.list({ workflowId: subject.workflowId, states: ["surplus"] });
  expect(await archive.replay([row?.id ?? ""])).toEqual([row?.id]);
  await start();
  await until(() => temporal.to(subject.workflowId).includes("e-3"));
});

test("what addresses brought is forgotten once nothing of it is left", async () => {
  const [receiver, subject] = [await receive(), subjectOf()];
  await send(receiver, subject, ids(1));
  const tomorrow = new Date(Date.now() + 2 * DAY_MS);
  expect(await archive.forgetAddresses(tomorrow)).toBe(0);
  await database.pool.query("truncate trustflow.callbacks");
  expect(await archive.forgetAddresses(new Date(Date.now() - DAY_MS))).toBe(0);
  expect(await archive.forgetAddresses(tomorrow)).toBe(1);
});

test("addresses are forgotten in their order, so that no two deletions stop each other", async () => {
  await database.pool.query(
    "insert into trustflow.callback_addresses (address, counted_on) values ('b', '2020-01-01'), ('a', '2020-01-01')",
  );
  const client = await database.pool.connect();
  const lock = (address: string, nowait = "") =>
    client.query(
      `select from trustflow.callback_addresses where address = $1 for update ${nowait}`,
      [address],
    );
  await client.query("begin");
  await lock("a");
  const forgetting = archive.forgetAddresses(new Date("2020-01-02"));
  await untilLockAwaited(database.pool);
  // A statement that waits for the first lock holds none of the others.
  await lock("b", "nowait");
  await client.query("commit");
  client.release();
  expect(await forgetting).toBe(2);
});
