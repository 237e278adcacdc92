import { afterEach, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox, type Sandbox } from "../../../src/sandbox.js";
import { DAY, MINUTE } from "../../caller.js";
import { collector, type Collector } from "../../collector.js";
import { signer } from "./signer.js";

let sandbox: Sandbox;
let inbox: Collector;
beforeEach(async () => {
  inbox = await collector();
  sandbox = await startSandbox({ speed: "manual" });
});
afterEach(async () => {
  await sandbox.close();
  await inbox.close();
});

const configure = () =>
  sandboxControl(sandbox.url).putAccount("sandbox", { webhookUrl: inbox.url });

async function signed(sandboxWords?: string): Promise<string> {
  const caller = signer(sandbox);
  const payload = sandboxWords === undefined ? {} : { sandbox: sandboxWords };
  const { id, otp } = await caller.bring({ payload, documents: ["contract.pdf"], otp: "fresh" });
  await caller.sign(id, otp!);
  return id;
}

const events = () => inbox.bodies.map(({ event }) => event);

test("without a URL that is configured for the account, nothing is posted (P1 §6.2)", async () => {
  await signed();
  await sandbox.clock.advance(DAY);
  expect(inbox.bodies).toEqual([]);
  expect((await sandboxControl(sandbox.url).callbacks()).newest).toEqual([]);
});

test("the URL is configured by the control API, and is not shown by it", async () => {
  expect(JSON.stringify(await configure())).not.toContain(inbox.url);
  const id = await signed();
  await sandbox.clock.advance(0);
  expect(inbox.bodies).toMatchObject([{ event: "signed", request_pk: id }]);
});

test("an unaccepted event is tried four times, and dropped", async () => {
  await configure();
  inbox.statuses.splice(0, Infinity, 500);
  await signed();
  const counts: number[] = [];
  for (const ms of [0, MINUTE, 5 * MINUTE, 15 * MINUTE, DAY]) {
    await sandbox.clock.advance(ms);
    counts.push(inbox.bodies.length);
  }
  expect(counts).toEqual([1, 2, 3, 4, 4]);
  expect((await sandboxControl(sandbox.url).callbacks()).counts).toMatchObject({ dropped: 1 });
});

test.each([
  ["webhook-lost", 0, 0],
  ["webhook-doubled", 2, 2],
  ["webhook-delayed", 0, 1],
])("%s: %i at once, %i after a day", async (word, atOnce, later) => {
  await configure();
  await signed(word);
  await sandbox.clock.advance(0);
  expect(inbox.bodies).toHaveLength(atOnce);
  await sandbox.clock.advance(DAY);
  expect(inbox.bodies).toHaveLength(later);
});

test("webhook-reordered: the approval comes after the signature", async () => {
  await configure();
  const caller = signer(sandbox);
  const payload = { identityVideo: true, sandbox: "webhook-reordered" };
  const documents = ["contract.pdf"];
  const { id, otp } = await caller.bring({ payload, documents, video: "approved", otp: "fresh" });
  await sandbox.clock.advance(MINUTE);
  await caller.sign(id, otp!);
  await sandbox.clock.advance(MINUTE);
  expect(events()).toEqual(["signed", "video_approved"]);
});

test("a fault hits the webhook of one event alone", async () => {
  await configure();
  const operation = "one-shot-signature.callback";
  sandbox.faults.add({ operation, kind: "lost", event: "signed", times: "always" });
  await signed();
  await signed("async-failed");
  await sandbox.clock.advance(DAY);
  expect(events()).toEqual(["failed"]);
});
