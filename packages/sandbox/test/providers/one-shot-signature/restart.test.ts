import { afterEach, beforeEach, expect, test } from "vitest";
import { MINUTE } from "../../caller.js";
import { collector, type Collector } from "../../collector.js";
import { sandboxesOfTest } from "../../restarts.js";
import { signer } from "./signer.js";

const sandboxes = sandboxesOfTest();
let inbox: Collector;
beforeEach(async () => {
  inbox = await collector();
});
afterEach(() => inbox.close());

const start = () =>
  sandboxes.start({
    stateDirectory: sandboxes.folder(),
    accounts: [{ username: "sandbox", password: "sandbox", webhookUrl: inbox.url }],
  });

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
