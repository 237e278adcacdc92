// What is known of the notices of a batch, in a real PostgreSQL.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import fc from "fast-check";
import { BatchItems } from "../../../src/batch/items/items.js";
import type { HeardItem, ProcessKey } from "../../../src/batch/items/items.js";
import { afterCallback } from "./notice-state.js";
import type { NoticeKnown } from "./notice-state.js";
import { ArchiveParts } from "../../../src/batch/items/parts.js";
import { claimCallbacks, hearAll, kinds } from "./heard.js";
import type { Heard } from "./heard.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { ofFile } from "../../harness/of-file.js";

const database = ofFile(testDatabase);
const items = ofFile(() => new BatchItems(database.pool));
const parts = ofFile(() => new ArchiveParts(database.pool));

async function openBatch(recipients = 10): Promise<ProcessKey> {
  const batch = { namespace: "default", workflowId: `sendNoticeBatch/${randomUUID()}` };
  await items.open(batch, recipients);
  return batch;
}

const hear = (batch: ProcessKey, heard: Heard[]) => hearAll(database.pool, items, batch, heard);
const claimed = (batch: ProcessKey, claim: string, heard: Heard[]) =>
  claimCallbacks(database.pool, batch, claim, heard);

const now = async () =>
  (await database.pool.query<{ at: Date }>("select clock_timestamp() as at")).rows[0]?.at as Date;
const itemOf = async (batch: ProcessKey, evidenceId = "n") =>
  (await items.byEvidence(batch, [evidenceId])).get(evidenceId);

test("in whatever order and pieces callbacks come, and however often, the newest says the state, and an end stays", async () => {
  const event = fc.record({
    kind: fc.constantFrom(...kinds),
    second: fc.integer({ min: 0, max: 3 }),
    notice: fc.constantFrom("a", "b"),
  });
  const ordered = fc.array(event, { minLength: 1, maxLength: 8 }).chain((events) =>
    fc.record({
      events: fc.constant(events),
      // Each at least once.
      order: fc.shuffledSubarray([...events, ...events], {
        minLength: events.length * 2,
        maxLength: events.length * 2,
      }),
      pieces: fc.integer({ min: 1, max: 16 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(ordered, async ({ events, order, pieces }) => {
      const batch = await openBatch();
      const heard = order.map(({ kind, second, notice }) => ({
        ...{ kind, evidenceId: notice, at: `2026-01-01T00:00:0${second}.000Z` },
        ...(kind === "Closed" && { outcome: "read" }),
      }));
      for (let at = 0; at < heard.length; at += pieces)
        await hear(batch, heard.slice(at, at + pieces));
      for (const notice of ["a", "b"]) {
        const newest = events
          .filter((one) => one.notice === notice)
          .map(({ kind: state, second }) => ({
            ...{ state, rank: kinds.indexOf(state) + 1, at: new Date(second), cameAt: new Date() },
          }))
          .reduce<NoticeKnown>(afterCallback, {}).heard;
        expect((await itemOf(batch, notice))?.state).toBe(newest?.state);
      }
      const counted = (await items.totals(batch)).reduce((sum, { count }) => sum + count, 0);
      expect(counted).toBe(new Set(events.map(({ notice }) => notice)).size);
    }),
    { numRuns: 15 },
  );
});

test("a callback whose claim was lost is not noted, one without a state or a notice makes no item, and none of an unknown batch fails", async () => {
  const batch = await openBatch();
  const heard = await claimed(batch, randomUUID(), [{ kind: "Read" }]);
  await items.keep(randomUUID(), heard);
  expect(await itemOf(batch)).toBeUndefined();
  const { evidenceId: _, ...without } = (
    await claimed(batch, randomUUID(), [{ kind: "Sent" }])
  )[0] as HeardItem;
  const claim = randomUUID();
  await database.pool.query("update trustflow.callbacks set claim = $1 where id = $2", [
    claim,
    without.id,
  ]);
  await items.keep(claim, [without]);
  await hear(batch, [{ kind: "AffidavitPublished" }]);
  expect(await items.totals(batch)).toMatchObject([]);
  await hear({ ...batch, workflowId: "sendNoticeBatch/unknown" }, [{ kind: "Sent" }]);
  const { rows } = await database.pool.query(
    "select state, count(*)::int as count from trustflow.callbacks where workflow_id = any($1) group by 1 order by 1",
    [[batch.workflowId, "sendNoticeBatch/unknown"]],
  );
  expect(rows).toEqual([
    { state: "kept", count: 3 },
    { state: "waiting", count: 1 },
  ]);
  expect(await items.history(batch, "n")).toEqual([
    {
      callback: expect.any(String),
      kind: "AffidavitPublished",
      eventDate: expect.any(Date),
      receivedAt: expect.any(Date),
    },
  ]);
});

test("a place in the list may be a number", async () => {
  const batch = await openBatch(3);
  await items.open(batch, 99);
  await items.noteListed(batch, [], 2, { from: undefined, unnoticed: 0 });
  for (const cursor of [4, 6]) await items.noteListed(batch, [], cursor, { from: 2, unnoticed: 0 });
  expect(await items.sweep(batch)).toMatchObject({ cursor: 4 });
});

test("the provider's list gives each recipient an item with its line, and is read on where it was left", async () => {
  const batch = await openBatch(3);
  await items.open(batch, 99);
  expect(await items.sweep(batch)).toEqual({ recipients: 3, isListed: false });
  await hear(batch, [{ kind: "Sent", evidenceId: "b" }]);
  const page = [
    { evidenceId: "b", line: 2 },
    { evidenceId: "a", line: 1 },
  ];
  await items.noteListed(batch, page, "next");
  await items.noteListed(batch, page, "next");
  expect(await items.sweep(batch)).toEqual({ recipients: 3, cursor: "next", isListed: false });
  await items.noteListed(batch, [{ evidenceId: "c" }]);
  await items.endListing(batch, { recipients: 3, failed: 0 });
  const swept = await now();
  await items.noteSwept(batch, swept);
  await items.noteSwept(batch, new Date(0));
  expect(await items.sweep(batch)).toEqual({ recipients: 3, isListed: true, sweptAt: swept });
  expect(await items.totals(batch)).toMatchObject([{ state: "Sent", count: 1 }, { count: 2 }]);
  expect(await items.page(batch, { limit: 2 })).toMatchObject([
    { evidenceId: "a", line: 1, source: "recipients" },
    { evidenceId: "b", line: 2, state: "Sent" },
  ]);
  expect(await items.page(batch, { limit: 2, after: "b" })).toEqual([
    { evidenceId: "c", source: "recipients" },
  ]);
  expect(await items.page(batch, { limit: 5, state: "sent", isOpen: true })).toHaveLength(1);
  expect(await items.page(batch, { limit: 5, isOpen: false })).toEqual([]);
});

test("ids are compared without case, called as the list spells them, and what the provider's list does not name is counted no more once it was read", async () => {
  const batch = await openBatch(2);
  await hear(batch, [
    { kind: "Sent", evidenceId: "AB-1" },
    { kind: "Closed", evidenceId: "forged", outcome: "read" },
  ]);
  const two = [
    { state: "Closed", outcome: "read", count: 1 },
    { state: "Sent", count: 1 },
  ];
  expect(await items.totals(batch)).toMatchObject(two);
  const filtered = async (filter: object) =>
    (await items.page(batch, { ...filter, limit: 5 })).map(({ evidenceId }) => evidenceId);
  expect(await filtered({ isOpen: true })).toEqual(["ab-1"]);
  expect(await filtered({ outcome: "Read" })).toEqual(["forged"]);
  const page = { from: undefined, unnoticed: 1 };
  await items.noteListed(batch, [{ evidenceId: "Ab-1", line: 1 }], undefined, page);
  expect(await items.totals(batch)).toMatchObject(two);
  await items.endListing(batch, { recipients: 2, failed: 1 });
  expect(await items.totals(batch)).toMatchObject([{ state: "Sent", count: 1 }]);
  // A call gets the id as the list spells it.
  expect(await items.due(batch, await now(), 5)).toEqual([{ evidenceId: "Ab-1", line: 1 }]);
  expect(await parts.missing(batch, 5)).toEqual([{ evidenceId: "Ab-1", line: 1 }]);
  expect(await parts.counts(batch)).toEqual({ collected: 0, missing: 1, unreadable: 0 });
  await items.noteRead(batch, [{ evidenceId: "aB-1", state: "Read" }], await now());
  expect(await itemOf(batch, "AB-1")).toMatchObject({ evidenceId: "ab-1", state: "Read", line: 1 });
  expect(await items.history(batch, "Ab-1")).toHaveLength(1);
});

test("the history of a notice has the order of the provider's dates, in whatever order they came", async () => {
  const batch = await openBatch();
  await hear(batch, [
    { kind: "Delivered", at: "2026-01-02T00:00:00.000Z" },
    { kind: "Read", at: "2026-01-03T00:00:00.000Z" },
    { kind: "Sent", at: "2026-01-01T00:00:00.000Z" },
  ]);
  const history = await items.history(batch, "n");
  expect(history.map(({ kind }) => kind)).toEqual(["Sent", "Delivered", "Read"]);
});

test("recipients without a notice that the provider counts as none complete a list only at its second reading; a page is counted once", async () => {
  const batch = await openBatch(3);
  const isListed = async () => (await items.sweep(batch))?.isListed;
  const read = async () => {
    const first = { from: undefined, unnoticed: 1 };
    await items.noteListed(batch, [{ evidenceId: "a" }], "2", first);
    const second = { from: "2", unnoticed: 1 };
    await items.noteListed(batch, [], undefined, second);
    // Another attempt, behind.
    await items.noteListed(batch, [], undefined, second);
    await items.endListing(batch, { recipients: 3, failed: 1 });
  };
  await read();
  expect(await isListed()).toBe(false);
  await read();
  expect(await isListed()).toBe(true);
  const other = await openBatch(3);
  const only = { from: undefined, unnoticed: 2 };
  await items.noteListed(other, [{ evidenceId: "a" }], undefined, only);
  await items.endListing(other, { recipients: 3, failed: 2 });
  expect(await items.sweep(other)).toMatchObject({ isListed: true });
});

test("due are those that no query has shown closed, the open ones first, and each once in a sweep", async () => {
  const batch = await openBatch();
  const ids = (due: { evidenceId: string }[]) => due.map(({ evidenceId }) => evidenceId);
  await hear(batch, [
    { kind: "Closed", evidenceId: "closed" },
    { kind: "Sent", evidenceId: "asked" },
    { kind: "Sent", evidenceId: "open" },
  ]);
  const first = await now();
  await items.noteRead(batch, [{ evidenceId: "asked" }], first);
  await items.noteRead(batch, [{ evidenceId: "confirmed", state: "Closed" }], first);
  const sweep = await now();
  expect(ids(await items.due(batch, first, 10))).toEqual(["open", "closed"]);
  expect(ids(await items.due(batch, sweep, 10))).toEqual(["open", "asked", "closed"]);
  expect(ids(await items.due(batch, sweep, 10, { isOpen: true }))).toEqual(["open", "asked"]);
  expect(ids(await items.due(batch, sweep, 1))).toEqual(["open"]);
  await items.noteRead(
    batch,
    ["open", "asked"].map((evidenceId) => ({ evidenceId, state: "Read" })),
    sweep,
  );
  expect(ids(await items.due(batch, sweep, 10))).toEqual(["closed"]);
  await items.noteRead(batch, [{ evidenceId: "closed" }], await now());
  expect(ids(await items.due(batch, await now(), 10))).toEqual(["asked", "open"]);
});

test("a notice is in one part of the archive, also if two attempts collect it", async () => {
  const batch = await openBatch();
  const listed = ["a", "b", "c", "d"].map((evidenceId, index) => ({ evidenceId, line: index + 1 }));
  await items.noteListed(batch, listed);
  const part = (document: string) => ({ document, size: 3, entries: Buffer.from(document) });
  const added = await Promise.all([
    parts.add(batch, part("document:1"), ["a", "b"]),
    parts.add(batch, part("document:2"), ["b", "c"]),
  ]);
  expect(added.filter(Boolean)).toHaveLength(1);
  const rest = await parts.missing(batch, 10);
  expect(rest).toHaveLength(2);
  expect(rest[1]).toEqual({ evidenceId: "d", line: 4 });
  const ids = rest.map(({ evidenceId }) => evidenceId);
  expect(await parts.add(batch, part("document:3"), ids)).toBe(true);
  expect(await parts.list(batch)).toEqual([
    { part: 1, document: added[0] ? "document:1" : "document:2", size: 3 },
    { part: 2, document: "document:3", size: 3 },
  ]);
  expect((await parts.entries(batch, 2)).toString()).toBe("document:3");
  await expect(parts.entries(batch, 3)).rejects.toThrow(RangeError);
  const counts = { collected: 4, missing: 0, unreadable: 0 };
  expect(await parts.counts(batch)).toEqual(counts);
  const archive = { uri: "document:a", sha256: "a", size: 6, mediaType: "application/zip" };
  expect(await parts.keep(batch, archive, 1)).toBeUndefined();
  expect(await parts.list(batch)).toHaveLength(2);
  expect(await parts.kept(batch)).toBeUndefined();
  expect(await parts.keep(batch, archive, 2)).toEqual(archive);
  expect(await parts.list(batch)).toEqual([]);
  expect(await parts.counts(batch)).toEqual(counts);
  expect(await parts.keep(batch, { ...archive, uri: "document:b" }, 0)).toEqual(archive);
  expect(await parts.kept(batch)).toEqual(archive);
  await items.noteListed(batch, [{ evidenceId: "late", line: 5 }]);
  expect(await parts.add(batch, part("document:4"), ["late"])).toBe(false);
  expect(await parts.counts(batch)).toEqual({ ...counts, missing: 1 });
});
