// The bench's provider of notices is no second sandbox, but what it answers is what the real clients read (P2 §2.6–2.12, §4.2, §4.3).
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { parseCallback } from "../../src/providers/evi-notice/callback.js";
import * as client from "../../src/providers/evi-notice/client.js";
import { defaultAccount } from "../providers/default-account.js";

const KINDS = ["Sent", "Delivered", "Read", "Closed"];

let providers: ChildProcess[];
let account: client.EviNoticeAccount;
/** Its provider has one connection, so that what it sends in order comes in order. */
let inOrder: client.EviNoticeAccount;
let receiver: Server;
let bodies: unknown[];
let refusals: number;

async function start(options: object) {
  const args = ["bench/notices.js", JSON.stringify({ spacedMs: 20, ...options })];
  const provider = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: provider.stdout }), "line")) as [string];
  const { url: baseUrl } = JSON.parse(line) as { url: string };
  const own = { baseUrl, username: "bench", password: "bench" };
  return { provider, account: defaultAccount("evi-notice", own) };
}

beforeAll(async () => {
  const [many, one] = await Promise.all([start({}), start({ connections: 1 })]);
  providers = [many.provider, one.provider];
  account = many.account;
  inOrder = one.account;
});
afterAll(() =>
  Promise.all(
    providers.map(async (provider) => {
      provider.kill();
      await once(provider, "exit");
    }),
  ),
);

beforeEach(async () => {
  bodies = [];
  refusals = 0;
  receiver = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      if (refusals > 0) {
        refusals -= 1;
        return response.writeHead(503).end();
      }
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
      response.writeHead(204).end();
      return receiver.emit("body");
    });
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
});
afterEach(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const reporting = () => ({
  pushNotificationUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
  pushNotificationExtraData: "correlation",
});

async function received(number: number) {
  while (bodies.length < number) await once(receiver, "body");
  return bodies.map(parseCallback);
}

test("a notice is submitted once for a token, called back in order, and closed when it is read", async () => {
  const submission = {
    subject: "A notice",
    body: "<p>A notice</p>",
    recipientAddress: "ada@example.com",
    lookupKey: "a notice",
    ...reporting(),
  };
  const first = await client.submit(inOrder, submission, "token");
  expect(await client.submit(inOrder, submission, "token")).toEqual(first);
  const read = await received(KINDS.length);
  expect(read.map(({ event }) => event.kind)).toEqual(KINDS);
  expect(read.every(({ correlation }) => correlation === "correlation")).toBe(true);
  const closed = { id: first.id, state: "Closed", outcome: "Read" };
  expect(await client.get(inOrder, first)).toMatchObject(closed);
  expect((await client.query(inOrder, { lookupKeys: ["a notice"] })).results).toMatchObject([
    closed,
  ]);
});

test("a batch is set up, started, followed and paged, and its notices call back what was asked for", async () => {
  const { batchId } = await client.createBatch(account, { description: "a batch" });
  const csv = Buffer.from(
    "address;legalname;lookupkey\r\nada@example.com;Ada;a::1\r\ngrace@example.com;Grace;b::2\r\n",
  );
  await client.setBatchBody(account, { batchId, html: "<p>A notice</p>" });
  await client.addRecipients(account, { batchId, csv, hasChallenges: false });
  const settings = { ...reporting(), subject: "A notice", pushNotificationFilter: ["Closed"] };
  await client.updateBatch(account, { batchId, settings });
  expect(await client.listBatchAttachments(account, { batchId })).toEqual([]);
  expect((await client.queryBatches(account, { limit: 10 })).results).toMatchObject([
    { batchId, description: "a batch", state: "Draft" },
  ]);
  refusals = 1;
  await client.startBatch(account, { batchId, state: "Submitted" });
  const read = await received(2);
  expect(read.map(({ event }) => [event.kind, event.outcome])).toEqual([
    ["Closed", "Read"],
    ["Closed", "Read"],
  ]);
  expect(await client.getBatch(account, { batchId })).toMatchObject({
    state: "Processed",
    sentCount: 2,
    failedCount: 0,
    progressPercentage: 100,
  });
  const first = await client.queryRecipients(account, { batchId, limit: 1 });
  const second = await client.queryRecipients(account, { batchId, limit: 1, cursor: first.cursor });
  expect(second.cursor).toBeUndefined();
  const recipients = [...first.results, ...second.results];
  expect(recipients.map(({ address }) => address)).toEqual([
    "ada@example.com",
    "grace@example.com",
  ]);
  expect(new Set(recipients.map(({ evidenceUniqueId }) => evidenceUniqueId))).toEqual(
    new Set(read.map(({ event }) => event.evidenceId)),
  );
  const { results } = await client.query(account, { lookupKeys: ["2"] });
  expect(results).toMatchObject([{ lookupKey: "b::2", state: "Closed" }]);
});
