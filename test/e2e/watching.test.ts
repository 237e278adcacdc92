// Watching asks no worker (docs/decisions/0035): with the worker away, each answer is as of the last workflow task. And a callback makes
// a process with an open attention try at once instead of at the next turn of its patient phase (docs/design.md §6).
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";
import { letterInput } from "../processes/send-postal/inputs.js";
import { eventually } from "../harness/outages/wait.js";
import { commandLine } from "../cli/in-process.js";
import { startTestStack, statusWhere } from "../harness/stack/stack.js";
import type { TestStack } from "../harness/stack/stack.js";
import { testStartMany } from "./start-many.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Nothing listens there. */
const nowhere = "127.0.0.1:1";

let system: TestStack;

beforeAll(async () => {
  const env = {
    TRUSTFLOW_ATTENTION__RETRY_SECONDS: "3600",
    TRUSTFLOW_ACCOUNTS__AWAY__EVI_POST__BASE_URL: `http://${nowhere}`,
    TRUSTFLOW_ACCOUNTS__AWAY__EVI_POST__USERNAME: "away",
    TRUSTFLOW_ACCOUNTS__AWAY__EVI_POST__PASSWORD: "away-password",
  };
  system = await startTestStack({ sandboxSpeed: "manual", env });
}, 120_000);
afterAll(() => system?.close(), 60_000);

test("without a worker a process shows its status, and a watcher sees the rest when the worker is back", async () => {
  const { client, sandbox, stack } = system;
  const handle = await client.sendPostal("watched", letterInput("watched", "delivered"));
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  // Within an hour the letter is processed, and nothing else happens to it.
  await sandbox.advance(HOUR_MS);
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

test("a letter with an open attention is queried as soon as a callback comes, although the next try is an hour away", async () => {
  const { id } = await system.sandbox.addFault({
    operation: "evi-post.query",
    kind: "reject",
    status: 400,
    times: "always",
    lookupKey: "heard",
  });
  const input = letterInput("heard", "delivered");
  const handle = await system.client.sendPostal("heard", input);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({ kind: "protocol", step: "ask" });
  // The patient phase has looked in vain too: its next look is an hour off.
  await eventually("the look of the patient phase", async () =>
    (await system.sandbox.faults()).some((fault) => fault.id === id && fault.fired >= 2),
  );
  await system.sandbox.removeFault(id);

  await system.sandbox.advance(DAY_MS);
  const { timeline } = await statusWhere(handle, (status) => status.attention === undefined);
  expect(timeline.map(({ source }) => source)).toContain("callback");
  expect(await system.effects("heard")).toEqual({ "evi-post.submit": 1 });
});

test("an unreachable provider shows in status, list and watch from the second attempt, with host, cause and next try", async () => {
  const { client, stack } = system;
  const input = letterInput("away", "delivered", { account: "away" });
  const handle = await client.sendPostal("away", input);
  const watched = (async () => {
    for await (const status of handle.watch()) if (status.retrying) return status.retrying;
    return undefined;
  })();
  const status = await statusWhere(handle, ({ retrying }) => retrying !== undefined);
  expect(status).toMatchObject({ environment: "sandbox", account: "away", phase: "submitting" });
  const call = {
    ...{ provider: "evi-post", operation: "submit", host: nowhere },
    cause: "not sent (ECONNREFUSED)",
    attempt: expect.any(Number),
  };
  expect(status.retrying).toEqual([expect.objectContaining(call)]);
  expect(await watched).toEqual([expect.objectContaining(call)]);
  const later = await statusWhere(
    handle,
    ({ retrying }) => retrying?.[0]?.nextAttemptAt !== undefined,
  );
  expect(later.retrying?.[0]?.attempt).toBeGreaterThanOrEqual(2);

  const { stdout: shown } = await commandLine(["status", "sendPostal/away"], { env: stack.env });
  expect(shown).toMatch(
    /retrying +evi-post submit at 127\.0\.0\.1:1: not sent \(ECONNREFUSED\); attempt \d+ /,
  );
  const { stdout: listed } = await commandLine(["list", "--json"], { env: stack.env });
  const found = JSON.parse(listed) as { id: string; retrying?: object[] }[];
  expect(found.find(({ id }) => id === "away")?.retrying).toEqual([expect.objectContaining(call)]);
  const workflow = client.temporal.workflow.getHandle(handle.workflowId);
  const { currentDetails } = await workflow.query<{ currentDetails: string }>(
    "__temporal_workflow_metadata",
  );
  expect(currentDetails).toMatch(/Now: Submit to EviPost .*Pending Activities/);
  await workflow.terminate();
}, 60_000);

test("while the first call has no answer yet, the status names the environment", async () => {
  const input = letterInput("slow", "submit=slow-5000");
  const handle = await system.client.sendPostal("slow", input);
  const status = await statusWhere(handle, ({ environment }) => environment === "sandbox");
  expect(status).toMatchObject({ phase: "submitting", references: {}, timeline: [] });
  expect(status).not.toHaveProperty("retrying");
  await statusWhere(handle, ({ phase }) => phase === "tracking");
}, 60_000);

testStartMany(() => system);
