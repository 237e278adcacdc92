// Watching asks no worker (docs/decisions/0035): with the worker away, each answer is as of the last workflow task.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";
import { letterInput } from "../processes/send-postal/inputs.js";
import { startTestStack, statusWhere } from "../harness/stack/stack.js";
import type { TestStack } from "../harness/stack/stack.js";

const DAY_MS = 86_400_000;

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: "manual" });
}, 120_000);
afterAll(() => system?.close(), 60_000);

test("without a worker a process shows its status, and a watcher sees the rest when the worker is back", async () => {
  const { client, sandbox, stack } = system;
  const handle = await client.sendPostal("watched", letterInput("watched", "delivered"));
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  await sandbox.advance(DAY_MS);
  const before = await statusWhere(handle, ({ reportedState }) => reportedState !== undefined);
  const worker = stack.role("worker");
  await worker.stop();

  expect(await handle.status()).toEqual(before);
  expect(before).toMatchObject({ environment: "sandbox", phase: "tracking" });
  expect(await handle.isOpen()).toBe(true);
  for await (const listed of client.list({ process: "sendPostal" }))
    expect(listed).toMatchObject({ id: "watched", phase: "tracking", state: "RUNNING" });

  const seen: ProcessStatus[] = [];
  const watched = (async () => {
    for await (const status of handle.watch()) seen.push(status);
  })();
  await worker.restart();
  await sandbox.advance(60 * DAY_MS);
  await watched;
  const result = await handle.result();
  expect(seen[0]).toEqual(before);
  expect(seen.at(-1)).toEqual(await handle.status());
  expect(seen.at(-1)).toMatchObject({
    environment: "sandbox",
    phase: "ended",
    state: "Closed",
    outcome: "delivered",
    timeline: result.timeline,
  });
}, 120_000);
