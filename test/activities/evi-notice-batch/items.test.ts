// The items of a batch at the simulated provider: totals, the sweep of what never called back, the report and the archive.
import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import yauzl from "yauzl";
import type { WrittenReport } from "../../../src/activities/evi-notice-batch/report.js";
import { BatchItems } from "../../../src/batch/items/items.js";
import { ArchiveParts } from "../../../src/batch/items/parts.js";
import { reportRows } from "../../../src/batch/recipients/report.js";
import type { ReportRow } from "../../../src/batch/recipients/report.js";
import type { DocumentReference } from "../../../src/contracts/shared/values.js";
import { DAY } from "../../../packages/sandbox/test/caller.js";
import { assumptions, batchBench, csv } from "./support.js";
import type { Bench } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const future = new Date(Date.now() + DAY).toISOString();
const past = new Date(Date.now() - DAY).toISOString();

const bench = ofFile(batchBench);
afterEach(() => bench.sandbox.faults.clear());

const recipients = `address;legalname;lookupkey;displayname
ana@example.com;Ana;order-1;
no address;Bo;;
refused@example.com;Cy;;sandbox:refused

failed@example.com;Dee;;sandbox:failed
never@example.com;Eve;;sandbox:nonsense
ANA@example.com;Ana;order-2;
`;

type Account = Parameters<Bench["batch"]>[0];

/** A batch whose notices were made, by ten minutes after its start. */
async function processed(
  account: Account = {},
  changes: object = {},
  text = recipients,
  minutes = 10,
) {
  const more = { items: new BatchItems(bench.pool), parts: new ArchiveParts(bench.pool) };
  // A busy machine may take its time for hundreds of calls.
  const own = bench.batch({ timeoutMs: 30_000, ...account }, more);
  const given = { recipients: csv(text), onInvalid: "skip-invalid", allowRefusal: true };
  const { plan, batchId } = await own.started(
    { ...given, attachments: [], ...changes },
    { pushNotificationFilter: [] },
  );
  await bench.sandbox.clock.advance(minutes * 60_000);
  const key = { namespace: "default", workflowId: own.workflowId };
  return { ...own, ...more, plan, of: { account: "default", batchId }, key };
}

type Processed = Awaited<ReturnType<typeof processed>>;

const question = ({ of, plan }: Processed, more: object) => ({
  ...{ ...of, list: plan.list, allowedFailures: 9, withoutNotice: 1, areAllMade: true },
  ...{ pollIntervalSeconds: 0, wait: "change" as const, deadline: future, mode: "quick" as const },
  ...more,
});

function watch(batch: Processed, more: object = {}) {
  return batch.run((all) => all.watchItems(question(batch, more)));
}

/** One attempt. */
function look(batch: Processed, more: object = {}, onHeartbeat?: (left: unknown) => void) {
  const about = onHeartbeat && { onHeartbeat };
  return batch.attempt((all) => all.watchItems(question(batch, more)), about);
}

const unchanged = { type: "unchanged", nonRetryable: false };

/** How often an operation was answered so. */
const answered = async (operation: string, status = "200") =>
  (await bench.control.requests()).total[`evi-notice.${operation}`]?.[status] ?? 0;

async function report({ run, of, plan }: Processed, stamp = "1"): Promise<WrittenReport> {
  const given = { ...of, list: plan.list, given: plan.given, stamp, mode: "quick" as const };
  return run((all) => all.writeReport(given));
}

async function rowsOf({ jsonLines }: WrittenReport): Promise<ReportRow[]> {
  const rows: ReportRow[] = [];
  for await (const row of reportRows(bench.documents.openRead(jsonLines))) rows.push(row);
  return rows.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
const at = expect.stringMatching(/Z$/);

test.each([
  ["with lookup keys of ours", true],
  ["without them", false],
])("each row of the list is in the report, %s", async (_, ownLookupKeys) => {
  const batch = await processed({
    batch: { ...assumptions, ownLookupKeys, recipientsPage: 2 },
  });
  await bench.sandbox.clock.advance(90 * DAY);
  const totals = await watch(batch);
  expect(totals).toEqual({
    at,
    states: { read: 1, refused: 1, failed: 1 },
    failed: 2,
    open: 0,
    isLast: true,
  });
  const written = await report(batch);
  const made = { evidenceUniqueId: id, state: "Closed", at, source: "query" };
  const refused = "the recipient refused the notice without opening it";
  const failed = "the provider could not deliver the notice";
  expect(await rowsOf(written)).toEqual([
    { line: 2, address: "ana@example.com", lookupKey: "order-1", ...made, outcome: "read" },
    { line: 3, address: "", reason: expect.stringContaining("address must be"), source: "list" },
    { line: 4, address: "refused@example.com", ...made, outcome: "refused", reason: refused },
    { line: 6, address: "failed@example.com", ...made, outcome: "failed", reason: failed },
    {
      line: 7,
      address: "never@example.com",
      reason: "the provider shows no notice",
      source: "recipients",
    },
    { line: 8, address: "", reason: "address must not be that of line 2", source: "list" },
  ]);
  expect(written.counts).toEqual({
    recipients: 6,
    withoutNotice: 3,
    states: { Closed: 3 },
    outcomes: { read: 1, refused: 1, failed: 1 },
    sources: { query: 3, recipients: 1, list: 2 },
  });
  const text = (await bench.documents.get(written.csv)).toString();
  expect(text.split("\r\n").filter(Boolean)).toHaveLength(7);
  expect(await report(batch)).toEqual(written);
});

test("a report that was stored is not made again", async () => {
  const batch = await processed();
  const first = await report(batch);
  await bench.sandbox.clock.advance(90 * DAY);
  await watch(batch, { deadline: past });
  expect(await report(batch)).toEqual(first);
  const later = await report(batch, "2");
  expect((await rowsOf(later)).map(({ source }) => source)).toContain("query");
});

test("while the provider has made no notice, all recipients are open, whatever callbacks say", async () => {
  const batch = await processed({}, {}, twoOpen, 0);
  for (const _ of [1, 2]) await heard(batch, randomUUID());
  for (const areAllMade of [true, false])
    expect(await watch(batch, { deadline: past, areAllMade })).toMatchObject({ open: 2 });
});

test("while the provider still makes notices, no number of readings ends the wait, or counts those that are not made", async () => {
  const batch = await processed({}, {}, twoOpen, 0);
  const asked = { areAllMade: false, withoutNotice: 2, allowedFailures: 0 };
  for (const _ of [1, 2, 3]) await expect(look(batch, asked)).rejects.toMatchObject(unchanged);
  await bench.sandbox.clock.advance(600_000);
  expect(await look(batch, asked)).toMatchObject({ open: 2, failed: 0, isLast: false });
  for (const known of await batch.items.page(batch.key, { limit: 9 }))
    await batch.items.noteRead(batch.key, [{ ...known, state: "Closed" }], new Date());
  expect(await look(batch, asked)).toMatchObject({ open: 0, isLast: true });
});

test("totals move, failures cross the budget once, and the deadline ends the wait", async () => {
  const batch = await processed();
  const asked = { allowedFailures: 1 };
  await expect(look(batch, asked)).rejects.toMatchObject(unchanged);
  const begun = await look(batch, asked);
  expect(begun).toMatchObject({ failed: 1, open: 3, isLast: false });
  expect(Object.values(begun.states)).toEqual([3]);
  const left: unknown[] = [];
  const again = look(batch, { ...asked, seen: begun }, (members) => left.push(members));
  await expect(again).rejects.toMatchObject(unchanged);
  const place = { environment: "sandbox", account: "default" };
  expect(left.at(-1)).toEqual({ ...place, members: { totals: { at, states: begun.states } } });
  await bench.sandbox.clock.advance(90 * DAY);
  const known = await batch.items.page(batch.key, { limit: 10 });
  const failed = { ...known.find(({ line }) => line === 6)!, state: "Closed", outcome: "failed" };
  await batch.items.noteRead(batch.key, [failed], new Date(Date.now() + 60_000));
  const atEnd = { ...asked, wait: "end", pollIntervalSeconds: 1_000 };
  const crossed = await look(batch, { ...atEnd, seen: begun });
  expect(crossed).toMatchObject({ failed: 2, open: 2, isLast: false });
  await expect(look(batch, { ...atEnd, seen: crossed })).rejects.toMatchObject(unchanged);
  const last = await look(batch, { ...atEnd, seen: crossed, deadline: past });
  expect(last).toMatchObject({ open: 2, isLast: true });
});

test("while an attention is open, any answer of the provider ends it, although nothing has changed", async () => {
  const batch = await processed({}, {}, twoOpen);
  const seen = await watch(batch, { deadline: past });
  const asked = { seen: { ...seen, isLast: false } };
  await expect(look(batch, asked)).rejects.toMatchObject(unchanged);
  for (const mode of ["watch", "probe"])
    expect(await look(batch, { ...asked, mode })).toMatchObject({ open: 2, isLast: false });
});

/** A callback as the relay settles it. */
async function heard({ items, key }: Processed, evidenceId: string, kind = "Closed") {
  const claim = randomUUID();
  const { rows } = await bench.pool.query<{ id: string }>(
    `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, size, body, claim, claimed_until)
     values ('a', gen_random_uuid(), 'evi-notice', $2, $3, 1, 'x', $1, clock_timestamp() + interval '1 minute') returning id`,
    [claim, key.namespace, key.workflowId],
  );
  const when = "2026-01-01T00:00:00.000Z";
  const end = kind === "Closed" ? { outcome: "delivered" } : {};
  const event = { kind, at: when, rank: kind === "Closed" ? 9 : 5, evidenceId, ...end };
  await items.keep(claim, [{ id: rows[0]?.id ?? "", ...event }]);
}

test("of mails and text messages, which no query shows, callbacks alone are known, and the deadline ends the wait", async () => {
  const text = "address;legalname\nana@example.com;Ana\n+34600000001;Bo\n";
  const batch = await processed({ batch: { ...assumptions, ownLookupKeys: false } }, {}, text);
  const unread = { operation: "evi-notice.get", kind: "reject" } as const;
  bench.sandbox.faults.add({ ...unread, status: 404, times: "always" });
  const before = await answered("get", "404");
  const one = () => look(batch, { withoutNotice: 0 });
  await expect(one()).rejects.toMatchObject(unchanged);
  await expect(one()).rejects.toMatchObject(unchanged);
  expect((await answered("get", "404")) - before).toBe(2);
  const [mail, message] = await batch.items.page(batch.key, { limit: 10 });
  const unknown = { evidenceId: id, source: "recipients" };
  expect([mail, message]).toEqual([unknown, unknown]);
  await heard(batch, mail!.evidenceId);
  const totals = { states: { delivered: 1 }, failed: 0, open: 1, isLast: false };
  expect(await one()).toMatchObject(totals);
  const last = await watch(batch, { withoutNotice: 0, deadline: past });
  expect(last).toMatchObject({ ...totals, isLast: true });
  const rows = await rowsOf(await report(batch));
  expect(new Map(rows.map(({ source, outcome }) => [source, outcome]))).toEqual(
    new Map([
      ["callback", "delivered"],
      ["recipients", undefined],
    ]),
  );
  const asked = await answered("get", "404");
  await heard(batch, message!.evidenceId);
  // An attempt goes on where the one before has ended, however many there are.
  for (const _ of [1, 2]) expect(await one()).toMatchObject({ open: 0, isLast: true });
  expect((await answered("get", "404")) - asked).toBe(2);
});

test("recipients are listed from the first page again where the provider no longer takes the cursor", async () => {
  const batch = await processed({ batch: { ...assumptions, recipientsPage: 2 } });
  await bench.sandbox.clock.advance(90 * DAY);
  await batch.items.noteListed(batch.key, [], "of another day");
  const before = await answered("queryRecipients", "400");
  expect(await watch(batch)).toMatchObject({ open: 0, states: { read: 1, refused: 1, failed: 1 } });
  expect((await answered("queryRecipients", "400")) - before).toBe(1);
  expect(await batch.items.sweep(batch.key)).toMatchObject({ isListed: true });
});

const twoOpen =
  "address;legalname;displayname\na@example.com;A;sandbox:open\nb@example.com;B;sandbox:open\n";

test("an id that no notice has, or that the provider refuses, does not stop the reading of the others", async () => {
  const batch = await processed({ batch: { ...assumptions, ownLookupKeys: false } });
  // Before the list is known each notice of a callback may be one of the batch.
  const hidden = batch.items.endListing;
  batch.items.endListing = async () => {};
  for (const forged of ["mail-4711", "..", "a/b", "n?x=1"]) await heard(batch, forged, "Sent");
  const unread = { operation: "evi-notice.get", kind: "reject" } as const;
  bench.sandbox.faults.add({ ...unread, status: 400, times: 1 });
  const answer = await watch(batch, { deadline: past });
  expect(answer.isLast).toBe(true);
  expect(await answered("get", "400")).toBe(1);
  expect(await answered("get")).toBeGreaterThan(0);
  const items = await batch.items.page(batch.key, { limit: 20 });
  expect(items.filter(({ source }) => source === "query").length).toBeGreaterThanOrEqual(2);
  expect(items.find(({ evidenceId }) => evidenceId === "..")).toMatchObject({ source: "callback" });
  batch.items.endListing = hidden;
});

test("notices are read by their ids where the provider refuses so many lookup keys at once", async () => {
  const batch = await processed();
  await bench.sandbox.clock.advance(90 * DAY);
  const refused = { operation: "evi-notice.query", kind: "reject", status: 400 } as const;
  bench.sandbox.faults.add({ ...refused, times: "always" });
  expect(await watch(batch)).toMatchObject({ open: 0, states: { read: 1, refused: 1, failed: 1 } });
});

test("forged callbacks end nothing: neither of notices that the batch does not have, nor of those that are read open", async () => {
  const batch = await processed({}, {}, twoOpen);
  for (const forged of [randomUUID(), randomUUID()]) await heard(batch, forged);
  const asked = { withoutNotice: 0, deadline: past };
  expect(await watch(batch, { ...asked })).toMatchObject({ open: 2, states: {} });
  for (const { evidenceId } of await batch.items.page(batch.key, { limit: 9 }))
    await heard(batch, evidenceId.toUpperCase());
  const totals = await watch(batch, { ...asked, deadline: future });
  expect(totals).toMatchObject({ open: 2, isLast: false });
  expect(totals.states).not.toHaveProperty("delivered");
});

test("a list that names too few notices is read again each interval, and what counts as failed closes no notice", async () => {
  const batch = await processed(
    {},
    {},
    twoOpen.replace("b@example.com;B;sandbox:open", "b@example.com;B;sandbox:nonsense"),
  );
  const before = await answered("queryRecipients");
  const lists = async () => (await answered("queryRecipients")) - before;
  const asked = { withoutNotice: 0, wait: "end", pollIntervalSeconds: 21_600 };
  for (let attempt = 0; attempt < 3; attempt += 1)
    await expect(look(batch, asked)).rejects.toMatchObject(unchanged);
  expect(await lists()).toBe(1);
  const due = look(batch, { ...asked, pollIntervalSeconds: 0 });
  await expect(due).rejects.toMatchObject(unchanged);
  expect(await lists()).toBe(2);
  const last = await look(batch, { ...asked, deadline: past });
  expect(last).toMatchObject({ open: 1, failed: 1 });
  expect(await lists()).toBe(2);
  const other = await processed({}, {}, twoOpen);
  await watch(other, { deadline: past });
  const [one] = await other.items.page(other.key, { limit: 9 });
  const closed = { ...one!, state: "Closed", outcome: "failed" };
  await other.items.noteRead(other.key, [closed], new Date());
  expect(await watch(other)).toMatchObject({ open: 1, failed: 1, isLast: false });
});

test("the notices of many recipients are read by a query for each hundred of them", async () => {
  const rows = Array.from({ length: 201 }, (_, number) => `r${number}@example.com;R`);
  const text = ["address;legalname", ...rows, ""].join("\n");
  const batch = await processed({ batch: { ...assumptions, recipientsPage: 100 } }, {}, text);
  await bench.sandbox.clock.advance(DAY);
  const calls = () => Promise.all(["queryRecipients", "query", "get"].map((one) => answered(one)));
  const before = await calls();
  const totals = await watch(batch, { withoutNotice: 0 });
  expect(totals).toMatchObject({ open: 0, states: { read: 201 } });
  const after = await calls();
  expect(after.map((count, at) => count - before[at]!)).toEqual([3, 3, 0]);
});

/** A batch whose notices are closed, and the making of its archive. */
async function closed(text = recipients, withoutNotice = 1, affidavitKinds = ["Submitted"]) {
  const batch = await processed({}, { affidavitKinds }, text);
  await bench.sandbox.clock.advance(90 * DAY);
  await watch(batch, { withoutNotice });
  const make = (more: object = {}) =>
    batch.attempt((all) =>
      all.archiveAffidavits({ ...batch.of, stamp: "1", deadline: past, mode: "quick", ...more }),
    );
  return { ...batch, make };
}

const opened = async (archive: DocumentReference | undefined) =>
  yauzl.fromBufferPromise(await bench.documents.get(archive!));
const entries = async (archive: DocumentReference | undefined) =>
  (await opened(archive)).entryCount;

const damaged = { operation: "evi-notice.affidavits", kind: "unreadable" } as const;
const lost = (problem: string) => ({
  ...{ type: "protocol", nonRetryable: true },
  details: [expect.objectContaining({ problem: expect.stringContaining(problem) })],
});

test("the affidavits of all notices are in one archive, which later runs of the process get too", async () => {
  const { key, parts, make } = await closed(recipients, 1, ["Submitted", "Refused"]);
  await expect(make({ deadline: future })).rejects.toMatchObject({
    type: "unchanged",
    nextRetryDelay: expect.anything(),
  });
  const answer = await make();
  expect(answer).toMatchObject({
    ...{ collected: 3, missing: 0, unreadable: 0 },
    archive: { mediaType: "application/zip" },
  });
  const zip = await opened(answer.archive);
  const names: string[] = [];
  for await (const entry of zip.eachEntry()) {
    names.push(entry.fileName);
    const bytes = await buffer(await zip.openReadStreamPromise(entry));
    expect(bytes.toString("latin1")).toMatch(/^%PDF-/);
    expect(crc32(bytes)).toBe(entry.crc32);
  }
  expect(new Set(names.map((name) => name.split("-")[0]))).toEqual(new Set(["2", "4", "6"]));
  expect(names).toHaveLength(4);
  expect(await parts.list(key)).toEqual([]);
  expect(await make({ stamp: "2", deadline: future })).toEqual(answer);
  expect(await parts.kept(key)).toEqual(answer.archive);
  await bench.documents.delete(answer.archive!.uri);
  await expect(make({ stamp: "3" })).rejects.toMatchObject(lost("its document is gone"));
});

test("an attempt that ended before the archive was noted is gone on with", async () => {
  const { parts, make } = await closed();
  const keep = parts.keep.bind(parts);
  parts.keep = async () => {
    throw new Error("the worker is gone");
  };
  await expect(make()).rejects.toThrow("the worker is gone");
  parts.keep = keep;
  const { archive, ...counts } = await make({ stamp: "2" });
  expect(counts).toEqual({ collected: 3, missing: 0, unreadable: 0 });
  expect(await entries(archive)).toBe(3);
});

test("of two attempts at once both get the same archive", async () => {
  const { make, parts } = await closed();
  const keep = parts.keep.bind(parts);
  let other: unknown;
  parts.keep = async (...given) => {
    parts.keep = keep;
    other = await make({ stamp: "2" });
    return keep(...given);
  };
  const { archive, ...counts } = await make();
  expect({ archive, ...counts }).toEqual(other);
  expect(await entries(archive)).toBe(3);
});

test("there is no archive without the affidavits that were collected", async () => {
  const { key, parts, make } = await closed();
  const keep = parts.keep.bind(parts);
  parts.keep = async () => undefined;
  await expect(make()).rejects.toMatchObject({ type: "unchanged" });
  parts.keep = keep;
  await bench.pool.query(
    "delete from trustflow.batch_parts where batch = (select id from trustflow.batches where workflow_id = $1)",
    [key.workflowId],
  );
  await expect(make({ stamp: "2" })).rejects.toMatchObject(
    lost("neither their parts nor their archive"),
  );
  expect(await parts.kept(key)).toBeUndefined();
});

test("a download that was damaged once is asked for again", async () => {
  const { make } = await closed();
  bench.sandbox.faults.add({ ...damaged, call: 2 });
  const { archive, ...counts } = await make();
  expect(counts).toEqual({ collected: 3, missing: 0, unreadable: 0 });
  expect(await entries(archive)).toBe(3);
});

test("a download that stays damaged is left out and counted, and the others are collected", async () => {
  const { make } = await closed();
  for (const call of [2, 4]) bench.sandbox.faults.add({ ...damaged, call });
  const answer = await make();
  expect(answer).toMatchObject({ collected: 2, missing: 1, unreadable: 1 });
  expect(await entries(answer.archive)).toBe(2);
  expect(await make({ stamp: "2" })).toEqual(answer);
});

test("where nothing can be read a person decides, and a retry asks again", async () => {
  const { make } = await closed();
  bench.sandbox.faults.add({ ...damaged, times: "always" });
  await expect(make()).rejects.toMatchObject(lost("no answer with affidavits could be read"));
  bench.sandbox.faults.clear();
  expect(await make()).toMatchObject({ collected: 3, missing: 0, unreadable: 0 });
  const rows = Array.from({ length: 12 }, (_, number) => `u${number}@example.com;U`);
  const many = await closed(["address;legalname", ...rows, ""].join("\n"), 0);
  bench.sandbox.faults.add({ ...damaged, times: "always" });
  await expect(many.make()).rejects.toMatchObject(lost("a file that cannot be used"));
});

test.each([
  [401, "accessDenied"],
  [429, "rateLimited"],
  [503, "unavailable"],
  [410, "protocol"],
])("no notice is left out for an answer of %d", async (status, type) => {
  const { key, parts, make } = await closed();
  bench.sandbox.faults.add({
    ...{ operation: "evi-notice.affidavits", kind: "reject", status, times: "always" },
  });
  await expect(make()).rejects.toMatchObject({ type });
  expect(await parts.missing(key, 9)).toHaveLength(3);
});

test("an archive goes on after the parts that are kept", async () => {
  const rows = Array.from({ length: 202 }, (_, number) => `a${number}@example.com;A`);
  const text = ["address;legalname", ...rows, ""].join("\n");
  const batch = await processed({}, { affidavitKinds: ["Submitted"] }, text);
  await watch(batch, { withoutNotice: 0, deadline: past });
  const add = batch.parts.add.bind(batch.parts);
  let added = 0;
  batch.parts.add = async (...given) => {
    if ((added += 1) === 2) throw new Error("the worker is gone");
    return add(...given);
  };
  const asked = { ...batch.of, stamp: "1", deadline: past, mode: "quick" as const };
  const make = () => batch.attempt((all) => all.archiveAffidavits(asked));
  await expect(make()).rejects.toThrow("the worker is gone");
  const before = await answered("affidavits");
  const { archive, ...counts } = await make();
  expect(counts).toEqual({ collected: 202, missing: 0, unreadable: 0 });
  expect((await answered("affidavits")) - before).toBe(2);
  expect(await entries(archive)).toBe(202);
});
