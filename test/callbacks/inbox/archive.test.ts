// The inbox as operators see it, and how it is emptied.
import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { CallbackArchive } from "../../../src/callbacks/inbox/archive.js";
import { Arrivals } from "../../../src/callbacks/receiver/arrivals.js";
import { Inbox } from "../../../src/callbacks/inbox/inbox.js";
import type { Settlement } from "../../../src/callbacks/inbox/rows.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { bodyKeys, sealRing, subjectOf } from "../support.js";
import { ofFile } from "../../harness/of-file.js";

const database = ofFile(testDatabase);
const inbox = ofFile(() => new Inbox(database.pool));
const archive = ofFile(() => new CallbackArchive(database.pool));
afterEach(() => database.pool.query("truncate trustflow.callbacks"));

async function fill(count: number, settlement?: Settlement) {
  const subject = subjectOf();
  const arrivals = Array.from({ length: count }, (_, i) => ({
    address: subject.workflowId,
    identifier: `e-${i}`,
    subject,
    body: Buffer.from(`{"n":${i}}`),
  }));
  await new Arrivals(database.pool, sealRing).insert(arrivals, 5_000);
  if (!settlement) return subject;
  const claim = randomUUID();
  const ids = (await inbox.claim(claim, 10_000)).map(({ id }) => id);
  await inbox.settle(claim, ids, settlement);
  return subject;
}

const late = new Date(Date.now() + 3_600_000);

test("listing pages from the newest, by process and by state", async () => {
  await fill(3, { state: "delivered" });
  const { workflowId, namespace } = await fill(5);
  const first = await archive.list({ workflowId, limit: 2 });
  expect(first.map(({ identifier }) => identifier)).toEqual(["e-4", "e-3"]);
  const next = await archive.list({ workflowId, limit: 2, before: first[1]?.id ?? "" });
  expect(next.map(({ identifier }) => identifier)).toEqual(["e-2", "e-1"]);
  expect(await archive.list({ workflowId, namespace, states: ["delivered"] })).toEqual([]);
  expect(await archive.list({ states: ["waiting"] })).toHaveLength(5);
  expect(await archive.counts()).toMatchObject({ waiting: 5, delivered: 3, parked: 0, claimed: 0 });
  expect(await archive.show("999999999", bodyKeys)).toBeUndefined();
});

test("a list begins with a time, and one received before it is left out", async () => {
  const { workflowId } = await fill(2);
  const old = "received_at = received_at - interval '2 hours'";
  await database.pool.query(`update trustflow.callbacks set ${old} where identifier = 'e-0'`);
  const since = new Date(Date.now() - 3_600_000);
  const found = await archive.list({ workflowId, since });
  expect(found.map(({ identifier }) => identifier)).toEqual(["e-1"]);
});

test("replay touches parked and late rows only, and none whose body is gone", async () => {
  const parked = await fill(2, { state: "parked", reason: "unreadable" });
  const [one, other] = (await archive.list(parked)).map(({ id }) => id);
  await database.pool.query("update trustflow.callbacks set body = null where id = $1", [other]);
  await fill(1, { state: "delivered" });
  const all = (await archive.list()).map(({ id }) => id);
  expect(await archive.replay(all)).toEqual([one]);
});

test("purge removes old settled rows of closed processes in small deletes, or their bodies alone", async () => {
  const open = await fill(30, { state: "delivered" });
  const closed = await fill(30, { state: "late" });
  const parked = await fill(5, { state: "parked", reason: "unreadable" });
  const waiting = await fill(5);
  const asked: string[] = [];
  const isOpen = (_namespace: string, workflowId: string) => {
    asked.push(workflowId);
    return Promise.resolve(workflowId === open.workflowId);
  };
  const purge = (what: "bodies" | "parkedBodies" | "rows", olderThan = late) =>
    archive.purge({ olderThan, what, isOpen, limit: 7 });
  expect(await purge("rows", new Date(Date.now() - 60_000))).toBe(0);
  expect(await purge("bodies")).toBe(30);
  expect(await purge("bodies")).toBe(0);
  const [bare] = await archive.list({ workflowId: closed.workflowId });
  expect(await archive.show(bare?.id ?? "", bodyKeys)).toEqual(bare);
  expect(await purge("rows")).toBe(30);
  const left = async ({ workflowId }: { workflowId: string }) =>
    (await archive.list({ workflowId })).length;
  expect(await Promise.all([open, closed, parked, waiting].map(left))).toEqual([30, 0, 5, 5]);
  expect(asked).not.toContain(parked.workflowId);
  expect(await purge("parkedBodies")).toBe(5);
  expect(await purge("parkedBodies")).toBe(0);
  expect(await archive.replay((await archive.list(parked)).map(({ id }) => id))).toEqual([]);
  expect(await purge("rows")).toBe(5);
  expect((await archive.list(waiting)).length).toBe(5);
});
