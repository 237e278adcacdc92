import { afterAll, afterEach, expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox.js";
import { call, DAY, everyEvent, post } from "../../caller.js";
import { collector } from "../../collector.js";

const inbox = await collector();
const sandbox = await startSandbox({ speed: "manual" });
afterAll(async () => {
  await sandbox.close();
  await inbox.close();
});
afterEach(async () => {
  await sandbox.clock.advance(100 * DAY);
  inbox.bodies.length = 0;
  inbox.headers.length = 0;
  inbox.statuses.splice(0, Infinity, 200);
});

const options = (more: object = {}) => ({
  PushNotificationUrl: inbox.url,
  PushNotificationFilter: everyEvent,
  PushNotificationExtraData: "correlation",
  ...more,
});
const kinds = () => inbox.bodies.map((body) => body.Kind);

test("each state and affidavit of the filter is called back once, in order where nothing fails (P2 §6.1, 6.3)", async () => {
  const id = await post(sandbox.url, { LookupKey: "order-1", Options: options() });
  await sandbox.clock.advance(20 * DAY);
  expect(kinds()).toEqual([
    "Processed",
    "Dispatched",
    "Issued",
    "Sent",
    "Delivered",
    "Closed",
    "AffidavitPublished",
  ]);
  expect(new Set(inbox.bodies.map((body) => body.Identifier)).size).toBe(7);
  for (const body of inbox.bodies) {
    expect(body).toMatchObject({ EvidenceId: id, EvidenceType: "eviPost", EvidenceState: null });
    expect(body.AdditionalData).toMatchObject({ LookupKey: "order-1", ExtraData: "correlation" });
  }
  expect(new Set(inbox.bodies.map((body) => typeof body.Owner))).toEqual(
    new Set(["string", "object", "undefined"]),
  );
  expect(inbox.headers.every((headers) => headers.authorization === undefined)).toBe(true);
});

test("without a filter, or outside it, nothing is called back (P2 §6.1)", async () => {
  await post(sandbox.url, { Options: { PushNotificationUrl: inbox.url } });
  await post(sandbox.url, { Options: options({ PushNotificationFilter: ["Closed"] }) });
  await sandbox.clock.advance(20 * DAY);
  expect(kinds()).toEqual(["Closed"]);
});

test("Failed, Undelivered and Missing have no callback (P2 §6.2)", async () => {
  await post(sandbox.url, {
    RecipientName: "sandbox:returned",
    Options: options({ PostServiceType: "LetterLite" }),
  });
  await post(sandbox.url, { RecipientName: "sandbox:missing", Options: options() });
  await sandbox.clock.advance(60 * DAY);
  expect(kinds()).not.toEqual(expect.arrayContaining(["Failed"]));
  expect(kinds().filter((kind) => ["Failed", "Undelivered", "Missing"].includes(kind))).toEqual([]);
});

test("a refused callback is repeated nine times on the schedule with the same Identifier, then dropped (P2 §6.5)", async () => {
  inbox.statuses.splice(0, Infinity, 500);
  await post(sandbox.url, {
    RecipientName: "sandbox:open",
    Options: options({ PushNotificationFilter: ["Processed"] }),
  });
  await sandbox.clock.advance(10 * 60_000);
  expect(inbox.bodies).toHaveLength(1);
  const seconds = [30, 30, 300, 900, 1800, 3600, 18_000, 54_000, 108_000];
  for (const [index, delay] of seconds.entries()) {
    await sandbox.clock.advance(delay * 1000 - 1);
    expect(inbox.bodies).toHaveLength(index + 1);
    await sandbox.clock.advance(1);
    expect(inbox.bodies).toHaveLength(index + 2);
  }
  await sandbox.clock.advance(30 * DAY);
  expect(inbox.bodies).toHaveLength(10);
  expect(new Set(inbox.bodies.map((body) => body.Identifier)).size).toBe(1);
});

test("a retry of one event holds up no other (P2 §6.4)", async () => {
  inbox.statuses.splice(0, Infinity, 503, 503, 503, 503, 503, 200);
  await post(sandbox.url, {
    Options: options({ PushNotificationFilter: ["Processed", "Closed"] }),
  });
  await sandbox.clock.advance(20 * DAY);
  expect(kinds()).toEqual([...Array.from({ length: 6 }, () => "Processed"), "Closed"]);
});

test("callbacks lost, doubled, delayed and reordered by magic value (P2 §6.4)", async () => {
  const filter = { PushNotificationFilter: ["Processed", "Dispatched", "Sent", "Closed"] };
  const run = async (words: string) => {
    inbox.bodies.length = 0;
    await post(sandbox.url, { RecipientName: `sandbox:${words}`, Options: options(filter) });
    await sandbox.clock.advance(30 * DAY);
    return inbox.bodies.map((body) => body.Kind);
  };
  expect(await run("callbacks-lost")).toEqual([]);
  expect(await run("callbacks-doubled")).toHaveLength(8);
  expect(new Set(inbox.bodies.map((body) => body.Identifier)).size).toBe(4);
  expect(await run("callbacks-reordered")).toEqual(["Dispatched", "Processed", "Closed", "Sent"]);
  expect(await run("callbacks-delayed")).toHaveLength(4);
  expect(await run("callback=lost@2")).toEqual(["Processed", "Sent", "Closed"]);
});

test("an affidavit on demand is called back with its RequestId (P2 §6.3)", async () => {
  const id = await post(sandbox.url, {
    LookupKey: "demand",
    Options: options({ CertificationLevel: "Advanced", AffidavitsOnDemandEnabled: true }),
  });
  const body = { UniqueId: id, IncludeEvents: true };
  const { body: answer } = await call(sandbox.url, "/v1/EviPost/AffidavitRequest", { body });
  await sandbox.clock.advance(5 * 60_000);
  expect(inbox.bodies.map((event) => event.AdditionalData.RequestId)).toEqual([answer.requestId]);
  expect(sandbox.ledger("demand").byIntent["demand"]).toEqual({
    "evi-post.submit": 1,
    "evi-post.affidavitRequest": 1,
  });
});
