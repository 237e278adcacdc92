// Callbacks to the one address of an account: receiver, relay and journal against a real PostgreSQL (docs/design.md §7,
// docs/reading-the-specification.md §6).
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { callbackUrl } from "../../src/callbacks/address.js";
import type { AccountSubject } from "../../src/callbacks/address.js";
import type { CallbackSummary } from "../../src/callbacks/inbox/archive.js";
import { startReceiver } from "../../src/callbacks/receiver/receiver.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../src/crypto/sealed-box.js";
import { ofFile } from "../harness/of-file.js";
import { until } from "../harness/outages/wait.js";
import { relayStand } from "./relay/relay-stand.js";
import { bodyKeys, post, ring, sealRing, subjectOf } from "./support.js";

const here: AccountSubject = { provider: "test-account", account: "default" };
const there: AccountSubject = { provider: "test-account", account: "branch" };

const stand = relayStand({
  ...{ gatherMs: 20, scanMs: 60_000, leaseMs: 5_000, signalTimeoutMs: 500 },
});
const { temporal, database, archive, inbox, journal, statesOf, start } = stand;
const receiver = ofFile(() => {
  const { pool } = database;
  return startReceiver({ pool, ring, sealRing, host: "127.0.0.1", port: 0 });
});

async function arrive(subject: AccountSubject, ...bodies: unknown[]): Promise<void> {
  for (const body of bodies) expect((await post(receiver.url, subject, body)).status).toBe(204);
}

/** A process that the account's provider knows by `reference`. */
async function correlated(reference: string, { provider, account }: AccountSubject = here) {
  const { namespace, workflowId } = subjectOf();
  await journal.noteReference({ provider, account, reference, namespace, workflowId });
  return workflowId;
}

const callback = (Identifier: string, request_pk?: string) => ({ Identifier, request_pk });
const all = async (): Promise<CallbackSummary[]> => (await archive.list()).toReversed();
const settled = (...states: string[]) => stand.settled({}, states);
/** Until a relay has looked at the only row so often, and let it rest. */
const tried = (times: number) =>
  until(async () => {
    const [row] = await all();
    return row?.state === "unaddressed" && row.attempts >= times;
  });

test("a full claim of known references is assigned in time, though the statistics are those of an empty queue", async () => {
  const { pool } = database;
  const of = [here.provider, here.account];
  await pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, account, state, size)
     values ('an address', 'settled', $1, $2, 'parked', 1)`,
    of,
  );
  await pool.query("analyze trustflow.callbacks");
  await pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, account, state, size)
     select 'an address', n, $1, $2, 'unaddressed', 1 from generate_series(1, 500) n`,
    of,
  );
  await pool.query(
    `insert into trustflow.correlations (provider, account, reference, namespace, workflow_id)
     select $1, $2, n, 'default', 'signOneShot/' || n from generate_series(1, 500) n`,
    of,
  );
  const claim = randomUUID();
  const rows = await inbox.claimUnaddressed(claim, 60_000);
  const referred = rows.map((row) => ({ row, reference: row.identifier }));
  expect((await inbox.address(claim, referred, 100)).size).toBe(500);
});

test("it is stored as any other: raw, sealed, once, behind an address that cannot be forged", async () => {
  const body = '{ "Identifier":"e-1",  "signer":"marker-of-a-person" }';
  await arrive(here, body, body);
  await arrive(there, body);
  const [row, other, ...more] = await all();
  expect(row).toMatchObject({ state: "unaddressed", ...here });
  expect(row?.workflowId).toBeUndefined();
  expect(other).toMatchObject(there);
  expect(more).toEqual([]);
  expect((await archive.show(row?.id ?? "", bodyKeys))?.body).toBe(body);
  const { rows } = await database.pool.query("select * from trustflow.callbacks");
  expect((rows[0].body as Buffer).toString("latin1")).not.toContain("marker-of-a-person");
  const genuine = callbackUrl(ring, receiver.url, here).split(".");
  const [, of] = callbackUrl(ring, "http://h", there).split("/callbacks/")[1]?.split(".") ?? [];
  genuine.splice(-2, 1, of ?? "");
  const forged = await fetch(genuine.join("."), { method: "POST", body });
  expect(forged.status).toBe(404);
});

test("the reference finds the process: one signal with what waits, in the order of arrival, listed by process", async () => {
  const workflowId = await correlated("r-1");
  const own = subjectOf({ workflowId });
  await arrive(here, callback("a", "r-1"));
  expect((await post(receiver.url, own, { Identifier: "b" })).status).toBe(204);
  await arrive(here, callback("c", "r-1"), callback("c", "r-1"));
  await start();
  await settled("delivered", "delivered", "delivered");
  expect(temporal.signals).toEqual([{ workflowId, ids: ["a", "b", "c"] }]);
  const [c, b, a] = await archive.list({ workflowId, namespace: "default" });
  for (const one of [a, c]) expect(one).toMatchObject(here);
  expect(b?.identifier).toBe("b");
});

test("an unknown reference rests, then is parked as unmatched, and an erasure finds it in the row; a replay once it is known delivers it", async () => {
  const references = async () => {
    const { rows } = await database.pool.query<{ reference: string | null }>(
      "select reference from trustflow.callbacks order by id",
    );
    return rows.map(({ reference }) => reference);
  };
  await start({ unmatchedMs: 1_000 });
  await arrive(here, callback("a", "r-1"), callback("b", "r-2"));
  await settled("parked: unmatched", "parked: unmatched");
  expect(await references()).toEqual(["r-1", "r-2"]);
  const [row] = await all();
  expect(row?.attempts).toBe(3);
  const waited = (row?.settledAt?.getTime() ?? 0) - (row?.receivedAt.getTime() ?? 0);
  expect(waited).toBeGreaterThanOrEqual(1_000);
  const workflowId = await correlated("r-1");
  expect(await archive.replay([row?.id ?? ""])).toEqual([row?.id]);
  await settled("delivered", "parked: unmatched");
  expect(temporal.signals).toEqual([{ workflowId, ids: ["a"] }]);
  expect(await references()).toEqual([null, "r-2"]);
});

test("a reference that becomes known in time is found without anybody's doing", async () => {
  await start();
  await arrive(here, callback("a", "slow"));
  await tried(2);
  const workflowId = await correlated("slow");
  await settled("delivered");
  expect(temporal.signals).toEqual([{ workflowId, ids: ["a"] }]);
});

test("a row that rests holds up no other of its account", async () => {
  await arrive(here, callback("a", "slow"));
  const claim = randomUUID();
  const [row] = await inbox.claimUnaddressed(claim, 5_000);
  await inbox.settle(claim, [row?.id ?? ""], { state: "waiting", pauseMs: 3_600_000 });
  const workflowId = await correlated("r-1");
  await correlated("slow");
  await start();
  await arrive(here, callback("b", "r-1"));
  await settled("unaddressed", "delivered");
  expect(temporal.signals).toEqual([{ workflowId, ids: ["b"] }]);
});

test("the same reference of two accounts means two processes, and one account's address reaches none of the other's", async () => {
  const [mine, theirs] = [await correlated("same", here), await correlated("same", there)];
  const hidden = await correlated("hidden", there);
  await correlated("hidden", { provider: "evi-post", account: "default" });
  await arrive(here, callback("a", "same"), callback("x", "hidden"));
  await arrive(there, callback("a", "same"));
  await start({ unmatchedMs: 0 });
  await settled("delivered", "parked: unmatched", "delivered");
  expect(temporal.signals.toSorted((a) => (a.workflowId === mine ? -1 : 1))).toEqual([
    { workflowId: mine, ids: ["a"] },
    { workflowId: theirs, ids: ["a"] },
  ]);
  expect(temporal.to(hidden)).toEqual([]);
});

test("what cannot be read, or has no reference, is parked at once with its reason; the rest goes on", async () => {
  const longest = "r".repeat(500);
  const workflowId = await correlated(longest);
  await arrive(
    here,
    { request_pk: longest },
    callback("b"),
    callback("c", "nul\0"),
    callback("d", ""),
    callback("d", `${longest}r`),
  );
  await arrive({ provider: "nobody", account: "default" }, callback("e", longest));
  const sealedWith = KeyRing.parse(generateBoxRing("lost").publicRing);
  await stand.arrive(here, [{}], { sealedWith });
  await arrive(here, callback("g", longest));
  await start();
  await settled(
    ...Array<string>(5).fill("parked: unreadable"),
    "parked: unknownProvider",
    "parked: undecryptable",
    "delivered",
  );
  expect((await all()).slice(0, 5).map(({ detail }) => detail)).toEqual([
    undefined,
    "the body has no reference",
    "the database refuses it (22021)",
    "the body has no reference",
    "the body has no reference",
  ]);
  expect(temporal.signals).toEqual([{ workflowId, ids: ["g"] }]);
});

test("a relay that dies between finding the process and the signal: another signals once; the dead one's word is too late", async () => {
  const workflowId = await correlated("r-1");
  await arrive(here, callback("a", "r-1"), callback("b", "r-1"));
  const claim = randomUUID();
  const rows = await inbox.claimUnaddressed(claim, 5_000);
  const referred = rows.map((row) => ({ row, reference: "r-1" }));
  expect((await inbox.address(claim, referred, 200)).size).toBe(2);
  expect(await statesOf()).toEqual(["waiting", "waiting"]);
  await start();
  await settled("delivered", "delivered");
  expect((await inbox.address(claim, referred, 200)).size).toBe(0);
  const ids = rows.map(({ id }) => id);
  await inbox.settle(claim, ids, { state: "parked", reason: "unmatched" });
  expect(await statesOf()).toEqual(["delivered", "delivered"]);
  expect(temporal.signals).toEqual([{ workflowId, ids: ["a", "b"] }]);
});

test("several relays and very many unmatched rows: each event once, and no process waits for the unmatched", async () => {
  const unmatched = Array.from({ length: 600 }, (_, i) => callback(`u-${i}`, "nobody's"));
  await stand.arrive(here, unmatched);
  const workflowIds = await Promise.all(Array.from({ length: 20 }, (_, i) => correlated(`r-${i}`)));
  await Promise.all([start(), start(), start()]);
  await Promise.all(workflowIds.map((_, i) => arrive(here, callback(`e-${i}`, `r-${i}`))));
  await until(async () => (await archive.counts()).delivered === 20);
  expect(workflowIds.map((workflowId) => temporal.to(workflowId))).toEqual(
    workflowIds.map((_, i) => [`e-${i}`]),
  );
  const { unaddressed, claimed, parked } = await archive.counts();
  expect([unaddressed + claimed, parked]).toEqual([600, 0]);
});
