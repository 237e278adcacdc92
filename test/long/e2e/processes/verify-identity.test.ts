// An identification by video on the whole system: its close event, its token, its audit, and who is told of failed callbacks (P1 §1.2,
// 2.7, 4.2, 5.2, 6.1).
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { HandleOf, VerifyIdentityInput } from "../../../../src/client.js";
import { namedDocuments, ownedDocuments } from "../../../harness/documents/owned-documents.js";
import { decoded } from "../../../harness/histories/decoded.js";
import { files, histories, rows } from "../../../harness/histories/haystack.js";
import { holding, killHeldRoles, replaceRole } from "../../../harness/outages/roles.js";
import { eventually } from "../../../harness/outages/wait.js";
import { callbackAddress } from "../../../harness/stack/inbox.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";
import {
  alertFor,
  conferenceOf,
  identityInput,
} from "../../../processes/verify-identity/inputs.js";

const provider = "video-identification";
const account = "default";
/** Nothing but an event makes the process ask. */
const seldom = { pollIntervalSeconds: 3_600 };

let system: TestStack;
let closeEventUrl: string;

beforeAll(async () => {
  // A call takes three seconds, and its token is good for eighteen.
  system = await startTestStack({ sandboxSpeed: 100 });
  closeEventUrl = callbackAddress(system, { provider, account });
}, 120_000);
afterEach(async () => {
  await killHeldRoles();
  await system.sandbox.clearFaults();
});
afterAll(() => system?.close(), 60_000);

type Handle = HandleOf<"verifyIdentity">;

function start(id: string, words = "", more: Partial<VerifyIdentityInput> = {}): Promise<Handle> {
  return system.client.verifyIdentity(id, identityInput(id, words, more));
}

const awaitsEnd = (handle: Handle) =>
  statusWhere(handle, ({ waitingFor }) => waitingFor === "the end of the call");

/** What the service answered to the requests of an operation that were about a conference. */
async function answers(intent: string, operation: string): Promise<(number | null)[]> {
  const { newest } = await system.sandbox.requests();
  const own = newest.filter((entry) => entry.intent === intent);
  return own
    .filter((entry) => entry.operation === `${provider}.${operation}`)
    .map(({ status }) => status);
}

const effectsOf = async (intent: string) =>
  Object.fromEntries(
    Object.entries(await system.effects(intent)).map(([name, count]) => [
      name.replace(`${provider}.`, ""),
      count,
    ]),
  );

/** Every token of a conference whose id begins so has this text: so begin its claims. */
const tokenStart = (id: string) => {
  const claims = Buffer.from(`{"conf":"${id}`);
  return claims.subarray(0, claims.length - (claims.length % 3)).toString("base64url");
};

/** The places of our own where the text stands, those that are encrypted included. */
async function placesOf(text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const [place, shown] of decoded(system, "verifyIdentity"))
    if (shown.includes(text)) found.push(place);
  for (const source of [histories(system), rows(system), files(system)])
    for await (const [place, bytes] of source) if (bytes.includes(text)) found.push(place);
  return found;
}

test("the close event's token opens the data, which are kept; no token stands anywhere (P1 §5.2, §6.1)", async () => {
  const handle = await start("closed-by-event", "", { settings: seldom });
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: "verified", auditDeleted: false });
  expect(result.references).toEqual({ idConference: "closed-by-event" });
  // The service's clock, which a callback shows, is not ours.
  expect(result.timeline.map(({ source, event }) => `${source} ${event}`).toSorted()).toEqual([
    "callback callClosed",
    "process Audit kept",
    "query closed",
    "query open",
  ]);
  // The first question needed a token of its own, and each one for an audit that was not there yet.
  const missing = (await answers("closed-by-event", "getAuditData")).filter((one) => one === 404);
  const made = 1 + Math.ceil(missing.length / 2);
  expect(await answers("closed-by-event", "genAPIToken")).toHaveLength(made);
  expect(await ownedDocuments(system, handle)).toEqual(namedDocuments(result.documents));
  for (const { kind, document } of result.documents) {
    const bytes = await system.client.documents.get(document);
    expect([kind, JSON.parse(bytes.toString())]).toEqual([
      kind,
      expect.objectContaining({ idConference: "closed-by-event", verdict: "verified" }),
    ]);
  }
  expect(await effectsOf("closed-by-event")).toEqual({});

  const sql = "select sealed from trustflow.event_secrets where workflow_id = $1";
  const { rows: kept } = await system.pool.query(sql, [handle.workflowId]);
  expect(kept).toHaveLength(1);
  expect(await placesOf(tokenStart("closed-by-event"))).toEqual([]);
  expect(await placesOf("closed-by-event")).not.toEqual([]);
});

test("an event that is forged, or that another call's token came with, ends nothing", async () => {
  const other = await start("another-call", "open", { settings: seldom });
  const handle = await start("forged", "open", { settings: seldom });
  await Promise.all([other, handle].map(awaitsEnd));
  const post = (message: object) =>
    fetch(closeEventUrl, {
      method: "POST",
      body: JSON.stringify({ event: "callClosed", idConference: "forged~open", ...message }),
    });
  const before = (await answers("forged", "conferenceData")).length;
  expect((await post({ message: { token: "eyJh.eyJi.forged" } })).status).toBe(204);
  expect((await post({ token: "no token" })).status).toBe(204);
  await eventually(
    "the process asks",
    async () => (await answers("forged", "conferenceData")).length > before,
  );
  const { timeline } = await statusWhere(
    handle,
    (status) => status.timeline.filter(({ source }) => source === "callback").length === 2,
  );
  expect(timeline.map(({ event }) => event)).not.toContain("closed");
  expect((await fetch(`${closeEventUrl}A`, { method: "POST", body: "{}" })).status).toBe(404);

  for (const id of ["forged", "another-call"])
    await system.sandbox.move(conferenceOf(id, "open"), { state: "closed" });
  expect((await handle.result()).outcome).toBe("verified");
  expect((await other.result()).outcome).toBe("verified");
});

test("an event that has its token and nothing else ends its call; forged ones end none, and hold up nothing (P1 §6.1)", async () => {
  const account = "stateless";
  // Nothing but an event ends a call of this account: its conference data show no state.
  const keys = "VIDEO_IDENTIFICATION";
  const url = system.stack.envOf("worker")[`TRUSTFLOW_ACCOUNTS__DEFAULT__${keys}__BASE_URL`];
  const env = {
    [`TRUSTFLOW_ACCOUNTS__STATELESS__${keys}__BASE_URL`]: url ?? "",
    [`TRUSTFLOW_ACCOUNTS__STATELESS__${keys}__API_KEY`]: "stateless-api-key",
  };
  const address = callbackAddress(system, { provider, account });
  await system.sandbox.putAccount(account, {
    ...{ password: account, apiKey: "stateless-api-key" },
    closeEventUrl: address,
  });
  const worker = await replaceRole(system, "worker", env);
  const post = (message: object) =>
    fetch(address, { method: "POST", body: JSON.stringify({ message }) });
  const [handle, other] = await Promise.all([
    start("token-alone", "token-alone~open", { account, settings: seldom }),
    start("still-going-on", "open", { account, settings: seldom }),
  ]);
  await Promise.all([handle, other].map(awaitsEnd));
  for (const token of ["eyJh.eyJi.one", "eyJh.eyJi.two", "eyJh.eyJi.three"])
    expect((await post({ token })).status).toBe(204);
  await system.sandbox.move(conferenceOf("token-alone", "token-alone~open"), { state: "closed" });
  const result = await handle.result();
  expect(result.outcome).toBe("closed");
  expect(result.timeline.filter(({ source }) => source === "callback")).toHaveLength(1);
  const { timeline, phase } = await other.status();
  expect([phase, timeline.filter(({ source }) => source === "callback")]).toEqual(["tracking", []]);
  const { rows: forged } = await system.pool.query(
    "select state, workflow_id from trustflow.callbacks where account = $1 and workflow_id is null",
    [account],
  );
  expect(forged).toHaveLength(3);
  await worker.stopAndGiveBack();
}, 120_000);

test("a worker that is killed between copy and deletion: its replacement deletes once, and only what is kept", async () => {
  const workflowId = "verifyIdentity/killed-before";
  const work = { workflowId, activity: "deleteAudit" };
  const held = holding(system, [{ when: "beforeRequest", work }]);
  const { killAndReplace } = await replaceRole(system, "worker", held.env);
  const handle = await start("killed-before", "", { deleteAudit: true });
  await eventually("the deletion", () => held.reached().includes(workflowId));
  expect((await ownedDocuments(system, handle)).some((one) => one.startsWith("audit "))).toBe(true);
  expect(await effectsOf("killed-before")).toEqual({});
  await killAndReplace();
  const { auditDeleted, documents } = await handle.result();
  expect(auditDeleted).toBe(true);
  expect(documents.map(({ kind }) => kind)).toEqual(["conference", "audit"]);
  expect(await effectsOf("killed-before")).toEqual({ deleteAuditData: 1 });
}, 60_000);

test("a worker that is killed after the deletion: its replacement is told that the audit is gone", async () => {
  const { id } = await system.sandbox.addFault({
    operation: `${provider}.deleteAuditData`,
    lookupKey: "killed-after",
    kind: "slow-answer",
    ms: 60_000,
  });
  const { killAndReplace } = await replaceRole(system, "worker", {});
  const handle = await start("killed-after", "", { deleteAudit: true });
  await eventually("the deletion", async () =>
    (await system.sandbox.faults()).some((rule) => rule.id === id && rule.fired > 0),
  );
  await killAndReplace();
  const { auditDeleted, documents } = await handle.result();
  expect(auditDeleted).toBe(true);
  for (const { document } of documents)
    expect(await system.client.documents.get(document)).toHaveLength(document.size);
  expect(await effectsOf("killed-after")).toEqual({ deleteAuditData: 1 });
  expect(await answers("killed-after", "deleteAuditData")).toContain(404);
}, 60_000);

test("who was registered is told of an event that failed, and removed at the end (P1 §4.2)", async () => {
  const receiver = system.stack.role("receiver");
  await receiver.stop();
  const alert = alertFor("unheard");
  const settings = { pollIntervalSeconds: 25 };
  const handle = await start("unheard", "", { alert, settings });
  const messages = await eventually("a message", async () => {
    const found = await system.sandbox.messages("unheard");
    return found.length > 0 && found;
  });
  expect(messages).toMatchObject([{ channel: "EMAIL", to: alert.emails[0] }]);
  await receiver.restart();
  expect((await handle.result()).outcome).toBe("verified");
  expect(await effectsOf("unheard")).toEqual({ registerAlertEmail: 2 });
  const { items } = await system.sandbox.items({ intent: "unheard" });
  expect(items.map(({ id }) => id)).toEqual(["unheard"]);
}, 60_000);

test("a call is rejected once, also where two persons ask; after the end nothing is awaited", async () => {
  const handle = await start("rejected", "open", { settings: seldom });
  await awaitsEnd(handle);
  const answers = await Promise.all([
    handle.rejectCall({ reason: "a wrong person" }),
    handle.rejectCall(),
  ]);
  expect(answers).toEqual([{ answer: "rejected" }, { answer: "rejected" }]);
  expect((await handle.result()).outcome).toBe("rejected");
  await expect(handle.rejectCall()).rejects.toMatchObject({ name: "FinishedError" });
  expect(await effectsOf("rejected")).toEqual({ rejectCall: 1 });
});
