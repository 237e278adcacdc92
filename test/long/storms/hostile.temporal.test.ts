// Each member of a callback of each form (EviPost and EviNotice have the same) with each hostile value, beside good callbacks: receiver,
// relay, PostgreSQL and Temporal are real. Whatever becomes of a hostile one, it is settled, and every good one arrives (docs/design.md §7).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BatchItems } from "../../../src/batch/items/items.js";
import { callbackUrl, correlationOf } from "../../../src/callbacks/address.js";
import type { ProcessSubject } from "../../../src/callbacks/address.js";
import { parkReasons } from "../../../src/callbacks/inbox/rows.js";
import { defaultQuota } from "../../../src/contracts/shared/callback-quota.js";
import { startReceiver } from "../../../src/callbacks/receiver/receiver.js";
import type { Receiver } from "../../../src/callbacks/receiver/receiver.js";
import { providerEvents } from "../../../src/contracts/shared/messages.js";
import { Relay } from "../../../src/callbacks/relay/relay.js";
import { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { Journal } from "../../../src/journal/journal.js";
import { callbackParsers } from "../../../src/providers/callbacks.js";
import { SecretSealer } from "../../../src/temporal/codec/secrets.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import type { TestDatabase } from "../../harness/stack/postgres.js";
import { sealersIn } from "../../harness/stack/sealers.js";
import { hostileBodies } from "../../callbacks/hostile-bodies.js";
import { bodyKeys, ring, sealRing, subjectOf } from "../../callbacks/support.js";
import { until } from "../../harness/outages/wait.js";
import { testTemporal } from "../../temporal/support.js";
import type { TestTemporal } from "../../temporal/support.js";

let temporal: TestTemporal;
let database: TestDatabase;
let receiver: Receiver;
let relay: Relay;
const sealer = new SecretSealer(KeyRing.parse(generateBoxRing("secrets").publicRing));

beforeAll(async () => {
  temporal = await testTemporal();
  database = await testDatabase();
  const { pool } = database;
  receiver = await startReceiver({
    ...{ pool, ring, sealRing, host: "127.0.0.1", port: 0 },
    quota: { ...defaultQuota, eventsPerProcess: 1_000 },
  });
  relay = new Relay({
    ...{ pool, ring, bodyKeys, ...(await callbackParsers({ accounts: {} })) },
    clientFor: () => temporal.client.workflow,
    sealSecret: (secret, processKey) => sealer.seal(secret, processKey),
    ...{ gatherMs: 20, scanMs: 100, unmatchedMs: 0, eventsPerProcess: 1_000 },
  });
}, 60_000);
afterAll(async () => {
  await relay?.close();
  await receiver?.close();
  await database?.close();
  await temporal?.teardown();
}, 60_000);

const TOKEN = "head.token-of-the-call.mark";
const GOOD_EACH = 12;

/** Every member that the envelope may have (P2 §2.11, §2.12). */
const envelope = (subject: ProcessSubject, evidenceType: string) => ({
  Identifier: "",
  Kind: "AffidavitPublished",
  Date: "2026-01-01T00:00:00Z",
  EvidenceId: "evidence-1",
  EvidenceType: evidenceType,
  EvidenceState: "Closed",
  Site: "site",
  Owner: "owner",
  OwnerEmail: "owner@example.com",
  Sender: "sender",
  Recipient: "recipient",
  From: "from",
  To: "to",
  Subject: "subject",
  LookupKey: "order-1",
  CreationDate: "2026-01-01T00:00:00Z",
  AdditionalData: {
    ...{ Kind: "kind", State: "Closed", Outcome: "Delivered", Regenerated: true },
    ...{ AffidavitId: "a-1", AffidavitName: "name", AffidavitKind: "OnDemand", RequestId: "r-1" },
    ...{ Comments: "c", OutcomeDescription: "o", Details: "d", Description: "d" },
    ...{ TransmissionDetails: "t", XmissionDetails: "x", Progress: 50 },
    ...{ IpAddress: "192.0.2.1", BrowserData: "b", UserLanguages: "es", UserAgent: "u" },
    ExtraData: correlationOf(ring, subject),
  },
});

/** The server records signals; no worker has to run the process. */
async function open(over: Partial<ProcessSubject>): Promise<ProcessSubject> {
  const subject = subjectOf(over);
  const { workflowId } = subject;
  await temporal.client.workflow.start("anything", { workflowId, taskQueue: randomUUID() });
  return subject;
}

async function eventsOf({ workflowId }: ProcessSubject): Promise<ProviderEvent[]> {
  const { events } = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
    const [payload] = signal?.input?.payloads ?? [];
    if (signal?.signalName !== providerEvents.name || !payload) return [];
    return JSON.parse(Buffer.from(payload.data ?? []).toString()) as ProviderEvent[];
  });
}

/** Posts the good ones among the others; what is not answered with 204 at once is sent again, as a provider does. */
async function send(url: string, hostile: string[], good: string[]): Promise<void> {
  const step = Math.ceil(hostile.length / (good.length - 1));
  const bodies = good.flatMap((one, index) => [
    one,
    ...hostile.slice(index * step, (index + 1) * step),
  ]);
  const waiting = bodies.values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const body of waiting)
        await until(async () => {
          const { status } = await fetch(url, { method: "POST", body });
          expect([204, 503]).toContain(status);
          return status === 204;
        });
    }),
  );
}

interface Settled {
  state: string;
  reason: string | null;
}

/** Once no row of the provider waits: what became of them. */
async function settled(provider: string): Promise<Settled[]> {
  const { pool } = database;
  await until(async () => {
    // As if a worker had tried each token that came without a reference.
    await pool.query("update trustflow.unaddressed_tokens set judged_at = clock_timestamp()");
    const { rowCount } = await pool.query(
      "select from trustflow.callbacks where provider = $1 and state in ('waiting', 'unaddressed')",
      [provider],
    );
    return rowCount === 0;
  });
  const { rows } = await pool.query<Settled>(
    "select distinct state, reason from trustflow.callbacks where provider = $1 order by 1, 2",
    [provider],
  );
  return rows;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `good ${index}`);
const nameOf = (member: string, index: number) => `hostile ${member} ${index}`;

test("evi-post: a process's own address", async () => {
  const provider = "evi-post";
  const subject = await open({ provider });
  const genuine = envelope(subject, "eviPost");
  const bodies = [...hostileBodies(genuine, nameOf)];
  const members = new Set(bodies.map(({ member }) => member));
  expect(members.size).toBeGreaterThan(35);
  // Each member has a process of its own, so that no quota hides any.
  const subjects: ProcessSubject[] = [];
  for (const member of members) {
    const own = await open({ provider });
    subjects.push(own);
    const { AdditionalData, ...rest } = genuine;
    const theirs = AdditionalData.ExtraData;
    const ExtraData = correlationOf(ring, own);
    const good = names(GOOD_EACH).map((Identifier) =>
      JSON.stringify({ ...rest, Identifier, AdditionalData: { ...AdditionalData, ExtraData } }),
    );
    const hostile = bodies
      .filter((body) => body.member === member)
      .map(({ text }) => text.replace(theirs, ExtraData));
    await send(callbackUrl(ring, receiver.url, own), hostile, good);
  }
  const found = await settled(provider);
  expect(found.filter(({ state }) => state !== "parked")).toEqual([
    { state: "delivered", reason: null },
  ]);
  for (const { reason } of found) if (reason !== null) expect(parkReasons).toContain(reason);
  for (const own of subjects) {
    const events = await eventsOf(own);
    expect(events.map(({ id }) => id)).toEqual(expect.arrayContaining(names(GOOD_EACH)));
    for (const event of events) expect(ProviderEvent.parse(event)).toEqual(event);
  }
}, 120_000);

test("evi-notice: the address of a batch", async () => {
  const batch = subjectOf({
    provider: "evi-notice",
    workflowId: `sendNoticeBatch/${randomUUID()}`,
  });
  const items = new BatchItems(database.pool);
  await items.open(batch, GOOD_EACH);
  const genuine = envelope(batch, "eviMail");
  const good = names(GOOD_EACH).map((Identifier) =>
    JSON.stringify({ ...genuine, Identifier, Kind: "Sent", EvidenceId: Identifier }),
  );
  const hostile = [...hostileBodies({ ...genuine, Kind: "Closed" }, nameOf)];
  const url = callbackUrl(ring, receiver.url, batch, { rows: hostile.length + good.length });
  await send(
    url,
    hostile.map(({ text }) => text),
    good,
  );
  await settled("evi-notice");
  const { rows } = await database.pool.query<{ state: string }>(
    "select distinct state from trustflow.callbacks where workflow_id = $1 order by 1",
    [batch.workflowId],
  );
  expect(rows.map(({ state }) => state)).toEqual(["kept", "parked"]);
  const page = await items.page(batch, { limit: 1_000 });
  const sent = page.filter(({ state }) => state === "Sent").map(({ evidenceId }) => evidenceId);
  expect(sent).toEqual(expect.arrayContaining(names(GOOD_EACH)));
}, 120_000);

test.each([
  ["one-shot-signature", { event: "signed", date: "2026-01-01T00:00:00Z", request_pk: "" }],
  [
    "video-identification",
    {
      ...{ event: "callClosed", date: "2026-01-01T00:00:00Z", idConference: "" },
      ...{ message: { token: TOKEN }, "message.token": TOKEN, token: TOKEN },
    },
  ],
])(
  "%s: the address of an account",
  async (provider, members) => {
    const account = `a-${randomUUID()}`;
    const sealers = sealersIn();
    const journal = new Journal(database.pool, sealers, { leaseMs: 1_000, lookUpSpacingMs: 1_000 });
    const reference = randomUUID();
    const pointed = provider === "one-shot-signature" ? "request_pk" : "idConference";
    const genuine = { Identifier: "", ...members, [pointed]: reference };
    const { namespace, workflowId, ...subject } = await open({ provider });
    await journal.noteReference({ ...subject, account, reference, namespace, workflowId });
    const hostile = [...hostileBodies(genuine, nameOf)];
    // The tokens of two events may be the same: an event with one is known by all of it.
    const good = names(GOOD_EACH).map((Identifier) => {
      const token =
        "token" in members ? { message: { token: `${TOKEN}${Identifier.slice(5)}` } } : {};
      return JSON.stringify({ ...genuine, ...token, Identifier, event: Identifier });
    });
    const url = callbackUrl(ring, receiver.url, { provider, account });
    await send(
      url,
      hostile.map(({ text }) => text),
      good,
    );
    const found = await settled(provider);
    const states = new Set(found.map(({ state }) => state));
    expect([...states]).toEqual(["delivered", "parked"]);
    const events = await eventsOf({ provider, namespace, workflowId });
    expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(names(GOOD_EACH)));
    for (const event of events) expect(ProviderEvent.parse(event)).toEqual(event);
    expect(JSON.stringify(events)).not.toContain("token-of-the-call");
  },
  120_000,
);
