// The bench's provider is no second sandbox, but what it answers is what the real clients read (P2 §2.5, §2.11, §4.1).
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { parseCallback } from "../../src/providers/evi-post/callback.js";
import { query, submit } from "../../src/providers/evi-post/client.js";
import type { EviPostAccount } from "../../src/providers/evi-post/client.js";
import { defaultAccount } from "../providers/default-account.js";

let provider: ChildProcess;
let account: EviPostAccount;

beforeAll(async () => {
  provider = spawn(process.execPath, ["bench/provider.js", "{}"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: provider.stdout! }), "line")) as [string];
  const { url: baseUrl } = JSON.parse(line) as { url: string };
  const keys = { baseUrl, username: "sandbox", password: "sandbox", affidavits: "blobs" };
  account = defaultAccount("evi-post", keys);
});

afterAll(async () => {
  provider.kill();
  await once(provider, "exit");
});

test("a letter is submitted once for a token, called back in order, and closed when it is queried", async () => {
  const bodies: unknown[] = [];
  let all: () => void;
  const complete = new Promise<void>((resolve) => (all = resolve));
  const receiver = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
      response.writeHead(204).end();
      if (bodies.length === 5) all();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const plan = { mode: "spaced", firstMs: 0, gapMs: 1, times: 1 };
  await fetch(`${account.baseUrl}/_plan`, { method: "PUT", body: JSON.stringify(plan) });
  const submission = {
    document: Buffer.from("%PDF-1.4"),
    recipientName: "A recipient",
    recipientAddress: { country: "ES" },
    lookupKey: "a letter",
    options: {
      pushNotificationUrl: `http://127.0.0.1:${port}/`,
      pushNotificationExtraData: "correlation",
    },
  };
  const first = await submit(account, submission as never, "token");
  expect(await submit(account, submission as never, "token")).toEqual(first);
  await complete;
  const read = bodies.map(parseCallback);
  expect(read.map(({ event }) => event.kind)).toEqual([
    "Processed",
    "Dispatched",
    "Sent",
    "Delivered",
    "Closed",
  ]);
  expect(new Set(read.map(({ correlation }) => correlation))).toEqual(new Set(["correlation"]));
  const { results } = await query(account, { uniqueIds: [first.uniqueId] });
  expect(results).toMatchObject([
    { evidenceId: first.uniqueId, state: "Closed", outcome: "Delivered" },
  ]);
  const report = (await (await fetch(`${account.baseUrl}/_report`)).json()) as object;
  expect(report).toMatchObject({ letters: 1, double: 0, refused: 0 });
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});
