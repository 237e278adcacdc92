// Batches: what comes of their recipients, in portions, once (P2 §2.9, §3.3, §3.4, §4.3, §6.1).
import { afterAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { DocumentFiles } from "../../../src/engine/document-files.js";
import type { SandboxParts } from "../../../src/engine/parts.js";
import { Batches, type Batch } from "../../../src/providers/evi-notice/batch.js";
import { RecipientList } from "../../../src/providers/evi-notice/recipient-list.js";
import { startSandbox } from "../../../src/sandbox.js";
import { basic, DAY, HOUR, MINUTE } from "../../caller.js";
import { collector } from "../../collector.js";
import { notices, sender } from "./sender.js";

const inbox = await collector();
const sandbox = await startSandbox({ speed: "manual", startAt: new Date("2026-01-05T09:00:00Z") });
beforeEach(async () => {
  inbox.bodies.length = 0;
  await sandboxControl(sandbox.url).reset();
});
afterAll(async () => {
  await sandbox.close();
  await inbox.close();
});

const listOf = (count: number) => {
  const rows = Array.from(
    { length: count },
    (_, n) => `person${n}@example.com;Person ${n};key-${n}`,
  );
  return `address;legalname;lookupkey\n${rows.join("\n")}\n`;
};
const ready = (recipients: string, settings: object = {}) => ({
  batch: {
    description: "June letters",
    settings: { Subject: "Your contract", ...settings },
    body: "<p>Read it.</p>",
    recipients,
    start: { State: "Submitted" },
  },
});

async function start(given: object, on = sandbox): Promise<string> {
  const values: Record<string, unknown> = {};
  await sender(on).bring(given, values);
  return String(values["batchId"]);
}

async function batchOf(id: string, on = sandbox): Promise<any> {
  return (await sender(on).send({ method: "GET", path: `${notices}/Batches/${id}` })).body;
}

async function recipientsOf(id: string, body: object = {}, on = sandbox): Promise<any> {
  const path = `${notices}/Batches/${id}/Recipients`;
  return (await sender(on).send({ method: "QUERY", path, body })).body;
}

test("a batch goes on in portions, and its counts with it", async () => {
  const id = await start(ready(listOf(2500)));
  await sandbox.clock.advance(MINUTE);
  expect(await batchOf(id)).toMatchObject({ State: "Processing", SentCount: 0 });
  await sandbox.clock.advance(1000);
  expect(await batchOf(id)).toMatchObject({ SentCount: 1000, ProgressPercentage: 40 });
  await sandbox.clock.advance(2000);
  expect(await batchOf(id)).toMatchObject({ State: "Processed", SentCount: 2500, FailedCount: 0 });
  const pages = [];
  for (let Cursor: unknown; ;) {
    const page = await recipientsOf(id, { Limit: 1000, ...(Cursor !== undefined && { Cursor }) });
    pages.push(page.Results);
    Cursor = page.Cursor;
    if (!Cursor) break;
  }
  expect(pages.map(({ length }) => length)).toEqual([1000, 1000, 500]);
  const ids = pages.flat().map(({ EvidenceUniqueId }) => EvidenceUniqueId);
  expect(new Set(ids).size).toBe(2500);
  const last = await sender(sandbox).get(ids[2499]);
  expect(last).toMatchObject({ RecipientAddress: "person2499@example.com", LookupKey: "key-2499" });
  expect(sandbox.ledger().duplicates).toEqual([]);
});

test("each notice calls back with the batch's settings; the batch itself does not (P2 §6.1)", async () => {
  const settings = {
    BatchPushNotificationUrl: inbox.url,
    PushNotificationFilter: ["Processed", "Closed"],
    PushNotificationExtraData: "batch-echo",
  };
  const id = await start(ready(listOf(3), settings));
  await sandbox.clock.advance(DAY);
  const { Results } = await recipientsOf(id);
  const told = inbox.bodies.map(({ Kind, EvidenceId }) => `${Kind} ${EvidenceId}`);
  const expected = Results.flatMap(({ EvidenceUniqueId }: any) =>
    ["Processed", "Closed"].map((kind) => `${kind} ${EvidenceUniqueId}`),
  );
  expect(told.toSorted()).toEqual(expected.toSorted());
  const echoes = inbox.bodies.map(({ AdditionalData }) => AdditionalData.ExtraData);
  expect(new Set(echoes)).toEqual(new Set(["batch-echo"]));
});

test("a recipient's magic words hold for its notice; what cannot be is counted as failed", async () => {
  const list = [
    "address;legalname;displayname",
    "a@example.com;A;sandbox:refused",
    "b@example.com;B;sandbox:accepted",
    "c@example.com;C;sandbox:failed",
  ].join("\n");
  const id = await start(ready(list, { AllowRefusal: true }));
  await sandbox.clock.advance(10 * DAY);
  expect(await batchOf(id)).toMatchObject({ SentCount: 2, FailedCount: 1 });
  const { Results } = await recipientsOf(id);
  const outcomes = await Promise.all(
    Results.map(async ({ EvidenceUniqueId }: any) =>
      EvidenceUniqueId === null ? null : (await sender(sandbox).get(EvidenceUniqueId)).Outcome,
    ),
  );
  expect(outcomes).toEqual(["Refused", null, "Failed"]);
});

test("recipients that the balance does not pay are counted as failed", async () => {
  sandbox.accounts.put({ username: "sandbox", password: "sandbox", balance: 2 });
  const id = await start(ready(listOf(3)));
  await sandbox.clock.advance(HOUR);
  sandbox.accounts.put({ username: "sandbox", password: "sandbox" });
  expect(await batchOf(id)).toMatchObject({ SentCount: 2, FailedCount: 1, State: "Processed" });
});

test("a scheduled batch waits for its date in UTC, and can be deleted until then", async () => {
  const at = (day: string) => ({ ScheduledDate: `2026-02-${day}T09:00:00` });
  const waiting = await start(ready(listOf(1), at("01")));
  const deleted = await start(ready(listOf(1), at("01")));
  const path = `${notices}/Batches/${deleted}`;
  expect((await sender(sandbox).send({ method: "DELETE", path })).status).toBe(204);
  const until = Date.parse("2026-02-01T09:00:00Z") - sandbox.clock.now();
  await sandbox.clock.advance(until - 1);
  expect(await batchOf(waiting)).toMatchObject({ State: "Scheduled" });
  await sandbox.clock.advance(HOUR);
  expect(await batchOf(waiting)).toMatchObject({ State: "Processed", SentCount: 1 });
  expect(await batchOf(deleted)).toMatchObject({ Status: 404 });
});

test.each([
  ["replace", 1],
  ["append", 3],
] as const)("a second list: %s (P2 §4.3 does not show which)", async (recipientLists, count) => {
  const own = await startSandbox({ speed: "manual", recipientLists });
  try {
    const values: Record<string, unknown> = {};
    const caller = sender(own);
    await caller.bring({ batch: { description: "d", recipients: listOf(2) } }, values);
    const path = `${notices}/Batches/${String(values["batchId"])}/Recipients`;
    const headers = { "content-type": "text/csv" };
    await caller.send({
      method: "POST",
      path,
      headers,
      text: "address;legalname\nz@example.com;Z",
    });
    const { Results } = await recipientsOf(String(values["batchId"]), {}, own);
    expect(Results).toHaveLength(count);
    expect(Results.at(-1).Address).toBe("z@example.com");
  } finally {
    await own.close();
  }
});

test("a doubled batch shows in the ledger, as a batch and as each recipient", async () => {
  await start(ready(listOf(2)));
  await start(ready(listOf(2)));
  await sandbox.clock.advance(HOUR);
  const operations = sandbox.ledger().duplicates.map(({ operation }) => operation);
  expect(operations.toSorted()).toEqual(
    ["addRecipients", "batchNotice", "batchNotice", "createBatch", "startBatch"].map(
      (name) => `evi-notice.${name}`,
    ),
  );
});

test("a list may come in pieces of unknown number, and not above the limit of the server", async () => {
  const values: Record<string, unknown> = {};
  await sender(sandbox).bring({ batch: { description: "d" } }, values);
  const url = `${sandbox.url}${notices}/Batches/${String(values["batchId"])}/Recipients`;
  const headers = { authorization: basic("sandbox"), "content-type": "text/csv; charset=utf-8" };
  const upload = (body: Blob | ReadableStream) =>
    fetch(url, { method: "POST", headers, body, duplex: "half" });
  expect((await upload(new Blob([listOf(2000)]).stream())).status).toBe(200);
  const { Results } = await recipientsOf(String(values["batchId"]), {
    SortDirection: "Descending",
  });
  expect(Results[0].Address).toBe("person1999@example.com");
  const refused = await upload(new Blob([Buffer.alloc(63_000_000)]));
  expect(await refused.json()).toMatchObject({ Status: 400, Detail: "Request body is too large" });
});

test("a list of a hundred thousand is kept as it came, and not a second time", () => {
  const bytes = Buffer.from(listOf(100_000));
  global.gc?.();
  const before = process.memoryUsage();
  const list = new RecipientList(bytes);
  const after = process.memoryUsage();
  expect(list.bytes).toBe(bytes);
  expect(list.size).toBe(100_000);
  expect(list.at(99_999)).toMatchObject({
    address: "person99999@example.com",
    legalname: "Person 99999",
  });
  // Four bytes a row, in a table that doubles as it grows.
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(bytes.length / 2);
});

test("the same list again, after a deletion or a lost answer, stays in memory once", () => {
  const documents = new DocumentFiles(undefined);
  const batches = new Batches({ documents } as unknown as SandboxParts);
  const [first, again] = [listOf(2), listOf(2)].map((text) => Buffer.from(text));
  const sha256 = batches.keep(new RecipientList(first!));
  expect(batches.keep(new RecipientList(again!))).toBe(sha256);
  const [kept] = batches.listsOf({ lists: [sha256] } as Batch);
  expect(kept?.bytes).toBe(first);
  expect(documents.get(sha256)).toBe(first);
});

test.each([
  ['a;b\r\n"x;1";"y ""q""\r\nz"\r\n\r\n', [["x;1", 'y "q"\r\nz']]],
  [
    "a;b\nx;\n;y",
    [
      ["x", ""],
      ["", "y"],
    ],
  ],
])("the CSV %j is read field by field", (text, rows) => {
  const list = new RecipientList(Buffer.from(text.replace("a;b", "*a;*b")));
  const read = Array.from({ length: list.size }, (_, row) => {
    const { extraFields } = list.at(row);
    return [extraFields["a"] ?? "", extraFields["b"] ?? ""];
  });
  expect(read).toEqual(rows);
});

test("a byte-order mark hides the first column, so that the list is refused", () => {
  const list = new RecipientList(Buffer.from("\uFEFFaddress;legalname\na@example.com;A\n"));
  expect(list.problem(() => true)).toBe("missing mandatory columns: address");
});
