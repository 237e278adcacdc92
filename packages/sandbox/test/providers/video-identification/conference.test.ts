import { afterEach, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox, type Sandbox } from "../../../src/sandbox.js";
import { DAY, MINUTE } from "../../caller.js";
import { collector, type Collector } from "../../collector.js";
import { exchange } from "../../exchange.js";
import { videoCaller } from "./caller.js";

let sandbox: Sandbox;
let inbox: Collector;
let caller: ReturnType<typeof videoCaller>;
beforeEach(async () => {
  inbox = await collector();
  sandbox = await startSandbox({ speed: "manual" });
  caller = videoCaller(sandbox);
});
afterEach(async () => {
  await sandbox.close();
  await inbox.close();
});

const control = () => sandboxControl(sandbox.url);
const configure = () => control().putAccount("sandbox", { closeEventUrl: inbox.url });
const count = (intent: string, operation: string) =>
  sandbox.ledger(intent).byIntent[intent]?.[`video-identification.${operation}`] ?? 0;

test("a call is open for five minutes, then closed and verified", async () => {
  const id = await caller.bring();
  expect((await caller.data(id)).body).toMatchObject({ idConference: id, state: "open" });
  await sandbox.clock.advance(5 * MINUTE);
  expect((await caller.data(id)).body).toMatchObject({ state: "closed", verdict: "verified" });
});

test("the word open keeps a call open until it is moved", async () => {
  const id = await caller.bring({ words: ["open"] });
  await sandbox.clock.advance(30 * DAY);
  expect((await caller.data(id)).body.state).toBe("open");
  await control().move(id, { state: "closed" });
  expect((await caller.data(id)).body.state).toBe("closed");
  await expect(control().move(id, { state: "rejected" })).rejects.toThrow("the call is closed");
});

test("a token is one call's, for half an hour", async () => {
  const [one, other] = [await caller.bring(), await caller.bring()];
  const token = await caller.tokenOf(one);
  const read = (query?: Record<string, string>) =>
    caller.byToken("GET", "conferenceData", token, query ? { query } : {});
  expect((await read()).body.idConference).toBe(one);
  expect((await read({ idConference: one })).status).toBe(200);
  expect((await read({ idConference: other })).status).toBe(401);
  await sandbox.clock.advance(29 * MINUTE);
  expect((await read()).status).toBe(200);
  await sandbox.clock.advance(MINUTE);
  expect((await read()).status).toBe(401);
  expect((await caller.data(one)).status).toBe(200);
});

test("the life of a token is an option", async () => {
  const short = await startSandbox({ speed: "manual", callTokenLifetimeMs: MINUTE });
  const its = videoCaller(short);
  const token = await its.tokenOf("order-1");
  await short.clock.advance(MINUTE + 1_000);
  expect((await its.byToken("GET", "conferenceData", token)).status).toBe(401);
  await short.close();
});

test("a clock that hurries does not make a token too old", async () => {
  const hurried = await startSandbox({ speed: "manual", personTime: "real" });
  const its = videoCaller(hurried);
  const token = await its.tokenOf("order-1");
  await hurried.clock.advance(60 * MINUTE);
  expect((await its.byToken("GET", "conferenceData", token)).status).toBe(200);
  await hurried.close();
});

test("a token that was changed, or made elsewhere, is none", async () => {
  const id = await caller.bring();
  const [header, claims, signature] = (await caller.tokenOf(id)).split(".");
  const claim = JSON.stringify({ conf: id, exp: 9_999_999_999 });
  const forged = Buffer.from(claim).toString("base64url");
  const elsewhere = await startSandbox({ speed: "manual", seed: "another" });
  const foreign = await videoCaller(elsewhere).tokenOf(id);
  await elsewhere.close();
  for (const token of [`${header}.${forged}.${signature}`, `${header}.${claims}.`, foreign])
    expect((await caller.byToken("GET", "conferenceData", token)).status).toBe(401);
});

test("another account's conference cannot be seen", async () => {
  const id = await caller.bring();
  expect((await videoCaller(sandbox, "colleague").mint(id)).status).toBe(404);
});

test.each([
  ["a key in the query", { query: { apikey: "sandbox-api-key" } }],
  ["a key in another parameter", { query: { idConference: "x-sandbox-api-key" } }],
  ["a key in the body", { body: { processId: "p1", email: "", key: "sandbox-api-key" } }],
])("%s is a violation, which shows nothing of it (P1 §5.2)", async (_, more) => {
  await caller.byKey("POST", "/api/v2/registerAlertEmail", { body: {}, ...more });
  const { violations } = sandbox.ledger();
  expect(violations).toMatchObject([{ kind: "credentialOutsideHeader" }]);
  expect(violations[0]?.detail).not.toContain("sandbox-api-key");
});

test("a token in the query is a violation, and is no credential there", async () => {
  const token = await caller.tokenOf("order-1");
  const path = "/api/v2/conferenceData";
  const { status } = await exchange(sandbox, { method: "GET", path, query: { token } });
  expect(status).toBe(401);
  const kinds = sandbox.ledger().violations.map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(["credentialOutsideHeader", "missingAuthorization"]);
});

test("a rejection is recorded once, and ends the call", async () => {
  const id = await caller.bring();
  const intent = id;
  expect((await caller.reject(id)).status).toBe(200);
  expect((await caller.reject(id)).status).toBe(409);
  expect(count(intent, "rejectCall")).toBe(1);
  expect((await caller.data(id)).body).toMatchObject({ state: "rejected" });
  await sandbox.clock.advance(DAY);
  expect((await caller.audit(id)).status).toBe(404);
});

test("invisible: the first reads miss the conference", async () => {
  const token = await caller.tokenOf("hidden~genAPIToken:invisible");
  const statuses: number[] = [];
  for (let turn = 0; turn < 3; turn += 1)
    statuses.push((await caller.byToken("GET", "conferenceData", token)).status);
  expect(statuses).toEqual([404, 404, 200]);
});

test("audit data have the same bytes each time, come late or never, and may be large", async () => {
  const id = await caller.bring({ until: "audit" });
  const first = await caller.audit(id);
  await sandbox.clock.advance(DAY);
  expect((await caller.audit(id)).bytes.equals(first.bytes)).toBe(true);
  const late = await caller.bring({ words: ["audit-late"], until: "audit" });
  const never = await caller.bring({ words: ["audit-never"], until: "audit" });
  expect((await caller.audit(late)).status).toBe(404);
  await sandbox.clock.advance(DAY);
  expect((await caller.audit(late)).status).toBe(200);
  expect((await caller.audit(never)).status).toBe(404);
  const large = await caller.bring({ words: ["audit-large"], until: "audit" });
  expect((await caller.audit(large)).bytes).toHaveLength(8_000_000);
});

test("audit data are deleted once, and the ledger knows it", async () => {
  const id = await caller.bring({ until: "audit" });
  expect((await caller.deletion(id)).status).toBe(204);
  expect((await caller.deletion(id)).status).toBe(404);
  expect((await caller.audit(id)).status).toBe(404);
  expect(count(id, "deleteAuditData")).toBe(1);
});

test("an asynchronous request runs for ten minutes, a stalled one for ever", async () => {
  const id = await caller.bring({ words: ["async"] });
  const stalled = await caller.bring({ words: ["async-stalled"] });
  expect((await caller.info(id)).body.status).toBe("running");
  await sandbox.clock.advance(10 * MINUTE);
  expect((await caller.info(id)).body.status).toBe("done");
  await sandbox.clock.advance(DAY);
  expect((await caller.info(stalled)).body.status).toBe("running");
});

test.each([
  ["token-expired", 401, undefined],
  ["token-foreign", 200, "another-call"],
])("%s: what the event's token reads", async (word, status, of) => {
  await configure();
  await caller.bring({ words: [word], until: "closed" });
  const { token } = inbox.bodies[0].message;
  const read = await caller.byToken("GET", "conferenceData", token);
  expect(read.status).toBe(status);
  if (of) expect(read.body.idConference).toContain(of);
});

test("registrations are no duplicates, and those of another account are apart", async () => {
  await caller.register("p1", "ops@example.com");
  await caller.register("p1", "new@example.com");
  await videoCaller(sandbox, "colleague").register("p1", "colleague@example.com");
  expect(sandbox.ledger().duplicates).toEqual([]);
  const { items } = await control().items();
  expect(items.map(({ id }) => id)).toEqual(["alert:sandbox/p1", "alert:colleague/p1"]);
});
