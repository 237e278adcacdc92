// What the simulated providers keep over a restart of the sandbox; test/state.test.ts has what all of them share.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox.js";
import { temporaryFolder } from "../../../../test/harness/temporary.js";
import { HOUR, MINUTE } from "../caller.js";
import { collector } from "../collector.js";
import { holder } from "./credential-wallet/holder.js";
import { enroll, sendOtp, validate } from "./disposable-certificate/caller.js";
import { sender as envelopes } from "./envelope-signature/sender.js";
import { notices, sender } from "./evi-notice/sender.js";
import { signer } from "./one-shot-signature/signer.js";
import { videoCaller } from "./video-identification/caller.js";

const inbox = await collector();
const started: Sandbox[] = [];
let stateDirectory: string;
let pkiDirectory: string;
beforeAll(async () => {
  pkiDirectory = await temporaryFolder();
});
beforeEach(async () => {
  stateDirectory = await temporaryFolder();
  inbox.statuses.splice(0, Infinity, 200);
});
afterEach(async () => {
  for (const sandbox of started.splice(0)) await sandbox.close();
});
afterAll(() => inbox.close());

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const folders = { stateDirectory, pkiDirectory };
  const sandbox = await startSandbox({ speed: "manual", ...folders, ...options });
  started.push(sandbox);
  return sandbox;
}

const withWebhooks = () => {
  const urls = { webhookUrl: inbox.url, closeEventUrl: inbox.url };
  return start({ accounts: [{ username: "sandbox", password: "sandbox", ...urls }] });
};

test("one-shot signature: requests, documents, codes, tokens, the pending signature and its webhook", async () => {
  const first = await withWebhooks();
  const before = signer(first);
  const { token } = (await before.send("POST", "tokens")).body;
  const documents = ["contract.pdf"];
  const pending = await before.bring({ documents, otp: "fresh" });
  const payload = { reference: "kept", sandbox: "async" };
  const signing = await before.bring({ payload, documents, otp: "fresh" });
  await before.sign(signing.id, signing.otp!);
  const done = await before.bring({ documents, otp: "fresh" });
  await before.sign(done.id, done.otp!);
  await first.clock.advance(0);
  const signed = (await before.send("GET", `document/${done.id}`)).body;
  await first.close();
  inbox.bodies.length = 0;

  const second = await withWebhooks();
  const after = signer(second);
  expect((await after.send("GET", `document/${done.id}`)).body).toEqual(signed);
  expect((await after.sign(pending.id, pending.otp!)).body).toEqual({ state: "signed" });
  await second.clock.advance(5 * MINUTE);
  expect((await after.send("GET", `document/${signing.id}`)).body.state).toBe("signed");
  expect(inbox.bodies.map((body) => body.request_pk)).toEqual([pending.id, signing.id]);
  expect(second.ledger("kept").duplicates).toEqual([]);
  expect(second.ledger("kept").effects).toHaveLength(4);
  const headers = { authorization: `Token ${token}` };
  expect((await fetch(`${second.url}/oneshot/api/v1/tokens`, { headers })).status).toBe(200);
  expect(await after.create()).not.toBe(done.id);
});

test("video identification: conferences, tokens, deleted audits, alerts and the pending end of a call", async () => {
  const first = await withWebhooks();
  const before = videoCaller(first);
  const deleted = await before.bring({ until: "deleted" });
  const open = await before.bring();
  const token = await before.tokenOf(open);
  await before.register(open, "ops@example.com");
  await first.close();
  inbox.bodies.length = 0;

  const second = await withWebhooks();
  const after = videoCaller(second);
  expect((await after.byToken("GET", "conferenceData", token)).body.state).toBe("open");
  expect((await after.audit(deleted)).status).toBe(404);
  inbox.statuses.splice(0, Infinity, 500);
  for (const ms of [5 * MINUTE, 0, MINUTE, 5 * MINUTE, 15 * MINUTE]) await second.clock.advance(ms);
  expect(inbox.bodies.map(({ idConference }) => idConference)).toEqual([open, open, open, open]);
  expect(second.messages().map(({ to }) => to)).toEqual(["ops@example.com"]);
});

test("credential wallet: what was created, and the words that hold for the next steps", async () => {
  const reference = "kept";
  const first = await start();
  const before = holder(first);
  const words = { reference, sandbox: "initIssuance=reject-503" };
  const template = await before.createTemplate(words);
  const service = await before.createIssuanceService(template, { reference });
  await first.close();

  const second = await start();
  const after = holder(second);
  expect((await after.initIssuance(service)).status).toBe(503);
  expect((await after.initIssuance(service)).status).toBe(200);
  expect(await after.createIssuanceService(template)).not.toBe(service);
  expect(second.ledger(reference).effects).toHaveLength(4);
});

test("envelope signature: requests, tokens, files and what is used", async () => {
  const first = await start();
  const before = envelopes(first);
  const used = await before.all({ reference: "kept" }, ["kept--contract.pdf"]);
  await before.send(used.fileIds, used.esaw_token);
  const open = await before.all({}, ["contract.pdf"]);
  await first.close();

  const second = await start();
  const after = envelopes(second);
  expect((await after.send(used.fileIds, used.esaw_token)).body.Message).toMatch(/used/);
  expect((await after.send(open.fileIds, open.esaw_token)).status).toBe(200);
  expect(second.ledger("kept").effects).toHaveLength(3);
});

test("disposable certificate: enrollment, code and outbox; the code still ages", async () => {
  const first = await start();
  const issued = await enroll(first);
  const otp = await sendOtp(first, issued);
  await first.close();

  const second = await start();
  expect(second.messages()).toMatchObject([{ otp }]);
  expect((await validate(second, issued, otp)).status).toBe(200);
  await second.clock.advance(10 * MINUTE);
  expect((await validate(second, issued, otp)).body).toMatchObject({ code: 251 });
});

test("batch of notices: it goes on where it stood", async () => {
  const rows = Array.from({ length: 1500 }, (_, n) => `person${n}@example.com;Person ${n}`);
  const settings = { Subject: "Your contract" };
  const batch = {
    ...{ description: "June letters", settings, body: "<p>Read it.</p>" },
    ...{ recipients: `address;legalname\n${rows.join("\n")}\n`, start: { State: "Submitted" } },
  };
  const values: Record<string, unknown> = {};
  const first = await start();
  await sender(first).bring({ batch }, values);
  const path = `${notices}/Batches/${String(values["batchId"])}`;
  await first.clock.advance(MINUTE + 1000);
  const list = { method: "QUERY", path: `${path}/Recipients`, body: {} } as const;
  const before = (await sender(first).send(list)).body;
  await first.close();

  const second = await start();
  const shown = async () => (await sender(second).send({ method: "GET", path })).body;
  expect(await shown()).toMatchObject({ State: "Processing", SentCount: 1000 });
  await second.clock.advance(HOUR);
  expect(await shown()).toMatchObject({ State: "Processed", SentCount: 1500 });
  expect((await sender(second).send(list)).body).toEqual(before);
  expect(second.ledger().duplicates).toEqual([]);
});
