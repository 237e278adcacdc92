import { afterAll, expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox.js";
import { call, DAY, HOUR, MINUTE, post, query, submission, submit } from "../../caller.js";

const sandbox = await startSandbox({ speed: "manual", startAt: new Date("2026-01-05T09:00:00Z") });
afterAll(() => sandbox.close());

const registered = {};
const lite = { PostServiceType: "LetterLite" };
const plain = { PostServiceType: "Letter", PostServiceProfile: "window" };
const tracked = { ...plain, EnableDeliveryReceipt: true };
const disposal = { ...plain, DisposalDaysAmmount: 15 };

const sent = ["Processed", "Dispatched", "Issued", "Sent"];

test.each([
  ["delivered", registered, [...sent, "Delivered", "Closed"], "Delivered"],
  ["delivered", lite, [...sent, "Delivered", "Closed"], "Delivered"],
  ["delivered-late", registered, [...sent, "Undelivered", "Delivered", "Closed"], "Delivered"],
  ["delivered-late", tracked, [...sent, "Undelivered", "Delivered", "Closed"], "Delivered"],
  ["delivered-after-60-days", registered, [...sent, "Delivered", "Closed"], "Delivered"],
  ["undelivered", registered, [...sent, "Undelivered", "Closed"], "Undelivered"],
  ["undelivered", lite, [...sent, "Undelivered", "Closed"], "Undelivered"],
  ["rejected", registered, [...sent, "Closed"], "Rejected"],
  ["failed", tracked, [...sent, "Failed", "Closed"], "Failed"],
  ["failed-early", registered, ["Processed", "Failed", "Closed"], "Failed"],
  ["returned", disposal, [...sent, "Undelivered", "Failed", "Closed"], "Failed"],
  ["disposed", disposal, [...sent, "Undelivered", "Disposed", "Closed"], "Disposed"],
  ["disposed,unclosed", disposal, [...sent, "Undelivered", "Disposed"], "Disposed"],
  ["expired", registered, [...sent, "Closed"], "Expired"],
  ["sent", plain, ["Processed", "Dispatched", "Sent", "Closed"], "Sent"],
  ["missing", registered, [...sent, "Missing", "Delivered", "Closed"], "Delivered"],
  ["open", registered, sent, "Sent"],
  ["stalled", registered, [], "None"],
])("%s: the states and the outcome of P2 §3.1 (%#)", async (words, options, expected, outcome) => {
  const id = await post(sandbox.url, { RecipientName: `sandbox:${words}`, Options: options });
  const seen: string[] = [];
  for (let next: number | undefined = 0; next !== undefined; next = sandbox.clock.next) {
    if (next > 0) await sandbox.clock.advance(next - sandbox.clock.now());
    const { state } = await stateOf(id);
    if (state !== seen.at(-1)) seen.push(state);
  }
  expect(seen).toEqual(["Submitted", ...expected]);
  expect((await query(sandbox.url, id)).outcome).toBe(outcome);
});

async function stateOf(id: string): Promise<{ state: string }> {
  const response = await fetch(`${sandbox.url}/_sandbox/items/${id}`);
  return (await response.json()) as { state: string };
}

test("without a magic value Registered is delivered and a plain Letter closes as Sent (P2 §3.1)", async () => {
  const first = await post(sandbox.url, { RecipientName: "Ana Pérez" });
  const second = await post(sandbox.url, { RecipientName: "Ana Pérez", Options: plain });
  await sandbox.clock.advance(10 * DAY);
  expect(await query(sandbox.url, first)).toMatchObject({ state: "Closed", outcome: "Delivered" });
  expect(await query(sandbox.url, second)).toMatchObject({ state: "Closed", outcome: "Sent" });
});

test.each([
  ["delivered-late", lite],
  ["undelivered", tracked],
  ["disposed", registered],
  ["sent", registered],
  ["delivered", plain],
  ["no-such-word", registered],
  ["submit=explode", registered],
])("the magic value %s is refused where the service cannot end so (%#)", async (words, options) => {
  const body = submission({ RecipientName: `sandbox:${words}`, Options: options });
  const answer = await submit(sandbox.url, body);
  expect(answer.status).toBe(400);
  expect(answer.body.responseStatus.errorCode).toBe("SandboxMagic");
});

test("a magic value may stand in a custom field, so that the recipient stays as it is", async () => {
  const CustomFields = [{ Key: "sandbox", Label: "scenario", Value: "sandbox:rejected" }];
  const id = await post(sandbox.url, { RecipientName: "Ana Pérez", Options: { CustomFields } });
  await sandbox.clock.advance(10 * DAY);
  expect(await query(sandbox.url, id)).toMatchObject({
    outcome: "Rejected",
    recipientName: "Ana Pérez",
  });
});

test("the dates of a query are those of the virtual clock, exactly (P2 §2.5)", async () => {
  const at = sandbox.clock.now();
  const id = await post(sandbox.url);
  await sandbox.clock.advance(12 * DAY);
  const item = await query(sandbox.url, id);
  expect(Date.parse(item.creationDate)).toBe(at);
  expect(Date.parse(item.processedOn)).toBe(at + 10 * MINUTE);
  expect(Date.parse(item.lastStateChangeDate)).toBe(Date.parse(item.stateDate));
});

test.each([
  ["None", 0],
  ["Basic", 1],
  ["AdvancedContentOnSubmit", 1],
  ["AdvancedContentOnClose", 1],
  ["AdvancedContentOnSubmitAndOnClose", 2],
])("the profile %s yields %d affidavits (P2 §2.3)", async (AffidavitProfile, count) => {
  const id = await post(sandbox.url, { Options: { AffidavitProfile } });
  await sandbox.clock.advance(20 * DAY);
  expect((await query(sandbox.url, id)).affidavits).toHaveLength(count);
});

test("a cancel before dispatch ends as Cancelled, one after it is refused (P2 §4.1)", async () => {
  const id = await post(sandbox.url, {
    RecipientName: "sandbox:cancellable",
    LookupKey: "cancel-me",
  });
  await sandbox.clock.advance(30 * DAY);
  const cancelled = await call(sandbox.url, "/v1/EviPost/Cancel", { body: { UniqueId: id } });
  expect(cancelled).toMatchObject({ status: 200, body: { uniqueId: id } });
  expect(await query(sandbox.url, id)).toMatchObject({ state: "Cancelled", outcome: "Cancelled" });
  await sandbox.clock.advance(2 * HOUR);
  expect(await query(sandbox.url, id)).toMatchObject({ state: "Closed", outcome: "Cancelled" });
  const again = await call(sandbox.url, "/v1/EviPost/Cancel", { body: { UniqueId: id } });
  expect(again.status).toBe(400);
  expect(sandbox.ledger().byIntent["cancel-me"]).toEqual({
    "evi-post.submit": 1,
    "evi-post.cancel": 1,
  });
});

test("unclosed: a cancelled communication stays Cancelled", async () => {
  const id = await post(sandbox.url, { RecipientName: "sandbox:cancellable,unclosed" });
  await call(sandbox.url, "/v1/EviPost/Cancel", { body: { UniqueId: id } });
  await sandbox.clock.advance(90 * DAY);
  expect((await query(sandbox.url, id)).state).toBe("Cancelled");
});

test("a colleague of the site sees an item, another site does not (P2 §4.1)", async () => {
  const id = await post(sandbox.url);
  const path = `/v1/EviPost/Query?WithUniqueIds=${id}`;
  expect((await call(sandbox.url, path, { username: "colleague" })).body.totalMatches).toBe(1);
  expect((await call(sandbox.url, path, { username: "elsewhere" })).body.totalMatches).toBe(0);
});

test("a regenerated affidavit has other bytes under the same id (P2 §2.12)", async () => {
  const id = await post(sandbox.url, { RecipientName: "sandbox:affidavit-regenerated" });
  const blobs = "&IncludeAffidavitsOnResult=true&IncludeAffidavitBlobsOnResult=true";
  await sandbox.clock.advance(5 * DAY);
  const [before] = (await query(sandbox.url, id, blobs)).affidavits;
  await sandbox.clock.advance(10 * DAY);
  const [after, ...more] = (await query(sandbox.url, id, blobs)).affidavits;
  expect(more).toEqual([]);
  expect(after.uniqueId).toBe(before.uniqueId);
  expect(after.bytes).not.toBe(before.bytes);
  expect(Buffer.from(after.bytes, "base64").toString("latin1")).toMatch(/^%PDF-1\.7[^]*%%EOF\n$/);
});
