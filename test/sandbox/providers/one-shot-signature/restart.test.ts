import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { startSandbox, type Sandbox } from "../../../../src/sandbox/sandbox.js";
import { MINUTE } from "../../caller.js";
import { collector, type Collector } from "../../collector.js";
import { signer } from "./signer.js";

let stateDirectory: string;
let inbox: Collector;
const sandboxes: Sandbox[] = [];
beforeEach(async () => {
  stateDirectory = await mkdtemp(join(tmpdir(), "sandbox-"));
  inbox = await collector();
});
afterEach(async () => {
  for (const sandbox of sandboxes.splice(0)) await sandbox.close();
  await inbox.close();
  await rm(stateDirectory, { recursive: true });
});

async function start(): Promise<Sandbox> {
  const accounts = [{ username: "sandbox", password: "sandbox", webhookUrl: inbox.url }];
  const sandbox = await startSandbox({ speed: "manual", stateDirectory, accounts });
  sandboxes.push(sandbox);
  return sandbox;
}

test("a restart keeps requests, documents, codes, tokens, the pending signature and its webhook", async () => {
  const first = await start();
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

  const second = await start();
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
