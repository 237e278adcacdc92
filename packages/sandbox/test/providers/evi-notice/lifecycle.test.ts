// The way of a notice (P2 §3.2, §3.4), its affidavits and callbacks, and what an account may do.
import { afterAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import { DAY, HOUR, MINUTE } from "../../caller.js";
import { collector } from "../../collector.js";
import { notices, sender, smallest } from "./sender.js";

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

const onTheWay = ["Submitted", "Processed", "Dispatched", "Sent"];
const opened = [...onTheWay, "Delivered", "Received", "Read"];

test.each([
  ["read", opened, "Read"],
  ["accepted", [...opened, "Replied"], "Accepted"],
  ["rejected", [...opened, "Replied"], "Rejected"],
  ["refused", [...onTheWay, "Delivered"], "Refused"],
  ["received", [...onTheWay, "Delivered", "Received"], "Received"],
  ["delivered", [...onTheWay, "Delivered"], "Delivered"],
  ["sent", onTheWay, "Sent"],
  ["failed", [...onTheWay, "Failed"], "Failed"],
  ["failed-recovered", [...onTheWay, "Failed", "Sent", "Delivered", "Received", "Read"], "Read"],
  ["certified", ["Submitted", "Processed"], "Certified"],
  ["cancelled", ["Submitted", "Processed"], "Cancelled"],
])("%s: the states and the outcome of P2 §3.2", async (word, expected, outcome) => {
  const CommitmentChoice = "AcceptOrReject";
  const RecipientDisplayName = `sandbox:${word}`;
  const caller = sender(sandbox);
  const id = await caller.submit({ ...smallest, CommitmentChoice, RecipientDisplayName });
  const seen: string[] = [];
  for (let next: number | undefined = 0; next !== undefined; next = sandbox.clock.next) {
    if (next > 0) await sandbox.clock.advance(next - sandbox.clock.now());
    const { State } = await caller.get(id);
    if (State !== seen.at(-1)) seen.push(State);
  }
  expect(seen).toEqual([...expected, "Closed"]);
  const { Outcome, RefusedOn } = await caller.get(id);
  expect(Outcome).toBe(outcome);
  expect(RefusedOn !== undefined).toBe(word === "refused");
});

test.each([
  ["open", "Delivered"],
  ["stalled", "Submitted"],
])("%s: stays %s", async (word, state) => {
  const caller = sender(sandbox);
  const id = await caller.submit({ ...smallest, RecipientDisplayName: `sandbox:${word}` });
  await sandbox.clock.advance(60 * DAY);
  expect(await caller.get(id)).toMatchObject({ State: state });
});

test.each(["accepted", "no-such-word", "submit=explode"])(
  "the magic value %s is refused where the notice cannot end so",
  async (word) => {
    const body = { ...smallest, RecipientDisplayName: `sandbox:${word}` };
    const path = `${notices}/Submit`;
    const answer = await sender(sandbox).send({ method: "POST", path, body });
    expect(answer.status).toBe(400);
    expect(answer.body.Type).toMatch(/SandboxMagic$/);
  },
);

test("tracked until the time to live is over, a notice that was read stays open until then (P2 §2.6)", async () => {
  const caller = sender(sandbox);
  const id = await caller.submit({
    ...smallest,
    TimeToLive: 2880,
    EnforceTrackingUntilTimeToLive: true,
    AffidavitKinds: ["ContentDownload"],
  });
  await sandbox.clock.advance(2 * DAY - MINUTE);
  expect(await caller.get(id)).toMatchObject({ State: "Read" });
  await sandbox.clock.advance(2 * MINUTE);
  expect(await caller.get(id)).toMatchObject({ State: "Closed", Outcome: "Read" });
});

test("affidavits come with what they attest, those of the end after Closed (P2 §2.6)", async () => {
  const caller = sender(sandbox);
  const AffidavitKinds = ["Submitted", "Read", "Refused", "Closed", "Complete", "OnDemand"];
  const id = await caller.submit({ ...smallest, AffidavitKinds });
  const kinds = async () => {
    const { State, Affidavits } = await caller.get(id, { IncludeAffidavits: "true" });
    return [State, ...Affidavits.map(({ Kind }: { Kind: string }) => Kind)];
  };
  await sandbox.clock.advance(2 * MINUTE);
  expect(await kinds()).toEqual(["Processed", "Submitted"]);
  await sandbox.clock.advance(3 * HOUR);
  expect(await kinds()).toEqual(["Read", "Submitted", "Read"]);
  await sandbox.clock.advance(HOUR);
  expect(await kinds()).toEqual(["Closed", "Submitted", "Read", "Closed", "Complete"]);
});

test("every event that the filter names calls back, and no other (P2 §6.1, §6.3)", async () => {
  await sender(sandbox).submit({
    ...smallest,
    LookupKey: "case-1::ours",
    PushNotificationUrl: inbox.url,
    PushNotificationFilter: ["Sent", "Read", "Closed", "AffidavitPublished"],
    PushNotificationExtraData: "echo",
  });
  await sandbox.clock.advance(DAY);
  expect(inbox.bodies.map(({ Kind }) => Kind)).toEqual([
    "Sent",
    "Read",
    "Closed",
    "AffidavitPublished",
  ]);
  for (const { EvidenceType, AdditionalData } of inbox.bodies) {
    expect(EvidenceType).toBe("eviNotice");
    expect(AdditionalData).toMatchObject({ LookupKey: "case-1::ours", ExtraData: "echo" });
    expect(AdditionalData).not.toHaveProperty("AffidavitKind");
  }
});

test("a requested affidavit is announced with its request, while it is allowed (P2 §4.2)", async () => {
  const caller = sender(sandbox);
  const Id = await caller.submit({
    ...smallest,
    AffidavitKinds: ["OnDemand"],
    PushNotificationUrl: inbox.url,
    PushNotificationFilter: ["AffidavitPublished"],
  });
  const path = `${notices}/Affidavits/Request`;
  const request = () => caller.send({ method: "POST", path, body: { Id } });
  const answers = [await request(), await request(), await request(), await request()];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 403]);
  await sandbox.clock.advance(5 * MINUTE);
  const requests = inbox.bodies.map(({ AdditionalData }) => AdditionalData.RequestId);
  expect(requests).toEqual(answers.slice(0, 3).map(({ body }) => body.RequestId));
  const { effects, duplicates } = sandbox.ledger();
  expect(effects.map(({ operation }) => operation)).toEqual([
    "evi-notice.submit",
    ...Array.from({ length: 3 }, () => "evi-notice.affidavitRequest"),
  ]);
  expect(duplicates).toEqual([]);
});

test("each notice costs one of the account's balance (P2 §4.2)", async () => {
  sandbox.accounts.put({ username: "poor", password: "poor", balance: 2 });
  const caller = sender(sandbox, "poor");
  await caller.submit();
  await caller.submit();
  const refused = await caller.send({ method: "POST", path: `${notices}/Submit`, body: smallest });
  expect([refused.status, refused.body.Type]).toEqual([
    403,
    expect.stringMatching(/InsufficientBalance$/),
  ]);
});

test("the effect counts for the caller's part of the lookup key, whatever else is joined to it", async () => {
  const caller = sender(sandbox);
  await caller.submit({ ...smallest, LookupKey: "case-1::a" });
  await caller.submit({ ...smallest, LookupKey: "case-1::b" });
  expect(sandbox.ledger().duplicates).toEqual([
    { intent: "case-1", operation: "evi-notice.submit", count: 2 },
  ]);
});

test("the colleagues of a site see its notices, another site does not", async () => {
  const id = await sender(sandbox).submit();
  expect(await sender(sandbox, "colleague").get(id)).toMatchObject({ Id: id });
  expect(await sender(sandbox, "elsewhere").get(id)).toMatchObject({ Status: 404 });
});
