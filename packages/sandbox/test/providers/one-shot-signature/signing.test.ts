import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import { samplePdf } from "../../../../../test/harness/fixtures/fixtures.js";
import { MINUTE } from "../../caller.js";
import { ofFile } from "../../../../../test/harness/of-file.js";
import { signer } from "./signer.js";

const sandbox = ofFile(() => startSandbox({ speed: "manual", seed: "signing" }));
const caller = signer(sandbox);

const retrieve = async (id: string) => (await caller.send("GET", `document/${id}`)).body;
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

async function signed(payload: Record<string, unknown>): Promise<string> {
  const { id, otp } = await caller.bring({ payload, documents: ["contract.pdf"], otp: "fresh" });
  await caller.sign(id, otp!);
  return id;
}

test("the signed document is another PDF that holds the uploaded one, and the same each time", async () => {
  const id = await signed({});
  const [document] = (await retrieve(id)).documents;
  const bytes = Buffer.from(document.signed, "base64");
  expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
  expect(bytes.equals(samplePdf)).toBe(false);
  expect(bytes.includes(samplePdf)).toBe(true);
  expect(document.sha256).toBe(sha256(samplePdf));
  expect(document.signedSha256).toBe(sha256(bytes));
  await sandbox.clock.advance(MINUTE);
  expect((await retrieve(id)).documents).toEqual([document]);
});

test("what is signed of a hash is the hash: a detached signature, and no PDF", async () => {
  const { id, otp } = await caller.bring({ hashes: ["contract.pdf"], otp: "fresh" });
  await caller.sign(id, otp!);
  const [document] = (await retrieve(id)).documents;
  expect(document.sha256).toBe("ab".repeat(32));
  expect(Buffer.from(document.signed, "base64").toString()).toContain("ab".repeat(32));
});

test("an asynchronous signature is there some minutes later", async () => {
  const id = await signed({ sandbox: "async" });
  await sandbox.clock.advance(5 * MINUTE - 1);
  expect((await retrieve(id)).state).toBe("signing");
  await sandbox.clock.advance(1);
  expect((await retrieve(id)).state).toBe("signed");
});

test("an asynchronous signature may fail, and is not tried again", async () => {
  const id = await signed({ sandbox: "async-failed" });
  await sandbox.clock.advance(5 * MINUTE);
  expect((await retrieve(id)).state).toBe("failed");
  expect((await caller.send("POST", `otp/${id}`, { body: {} })).status).toBe(409);
});

test("an asynchronous signature may never end, until it is moved by hand", async () => {
  const control = sandboxControl(sandbox.url);
  const id = await signed({ sandbox: "async-stalled" });
  await sandbox.clock.advance(60 * 24 * 60 * MINUTE);
  expect((await retrieve(id)).state).toBe("signing");
  await control.move(id, { state: "signed" });
  expect((await retrieve(id)).documents[0].signed).toBeDefined();
  await expect(control.move(id, { state: "gone" })).rejects.toThrow(/state: must be one of/);
});

test("the identity video that a request needs is approved by itself, where the payload says so", async () => {
  const payload = { identityVideo: true, sandbox: "video-approved" };
  const { id } = await caller.bring({ payload, documents: ["contract.pdf"], video: "video" });
  await sandbox.clock.advance(30 * MINUTE - 1);
  expect((await caller.send("POST", `otp/${id}`, { body: {} })).status).toBe(409);
  await sandbox.clock.advance(1);
  expect((await caller.sign(id, await caller.otp(id))).body).toEqual({ state: "signed" });
});

test("a request goes with the identity video that it needs, and stays without one that it does not", async () => {
  const { id } = await caller.bring({ payload: { identityVideo: true }, video: "cancelled" });
  expect((await retrieve(id)).state).toBe("cancelled");
  const other = await caller.bring({ documents: ["contract.pdf"], video: "cancelled" });
  expect((await retrieve(other.id)).state).toBe("created");
  await caller.film(other.id, "approved");
});

test("the code goes to the payload's mobile, and stands in the outbox alone", async () => {
  const payload = { reference: "coded", mobile: "+34600000000" };
  const { id, otp } = await caller.bring({ payload, documents: ["contract.pdf"], otp: "fresh" });
  expect(sandbox.messages("coded")).toMatchObject([
    { provider: "one-shot-signature", channel: "SMS", to: "+34600000000", otp },
  ]);
  expect(sandbox.messages("coded")[0]!.text).toContain(otp!);
  const control = sandboxControl(sandbox.url);
  expect(JSON.stringify(await control.item(id))).not.toContain(otp);
  expect((await control.items({ intent: "coded" })).items).toMatchObject([
    { provider: "one-shot-signature", id, state: "created", outcome: "None" },
  ]);
});

test("a token that was created is good for requests, and is never shown whole again", async () => {
  const { token } = (await caller.send("POST", "tokens")).body;
  const headers = { authorization: `Token ${token}` };
  const answer = await fetch(`${sandbox.url}/oneshot/api/v1/tokens`, { headers });
  const list = await answer.json();
  expect(list).toContainEqual({ token: token.slice(-4) });
  expect(JSON.stringify(list)).not.toContain(token);
});

test("how the token travels is an option (P1 §5.4 does not show it)", async () => {
  const oneShotToken = { name: "X-Token", prefix: "" };
  const other = await startSandbox({ speed: "manual", oneShotToken });
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${other.url}/oneshot/api/v1/tokens`, { headers })).status;
  expect(await status({ "x-token": "sandbox-token" })).toBe(200);
  expect(await status({ authorization: "Token sandbox-token" })).toBe(401);
  expect(other.ledger().violations.map(({ detail }) => detail)).toEqual(["no X-Token header"]);
  await other.close();
});
