// Webhooks and the change feed end to end (docs/webhooks.md): processes of the whole system, a real Temporal, and a receiver.
import { afterAll, beforeAll, expect, test } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import type { Change } from "../../../src/client.js";
import { newSecret } from "../../../src/webhooks/signature.js";
import { commandLine } from "../../cli/in-process.js";
import { eventually } from "../../harness/outages/wait.js";
import { reset, tasksOf } from "../../harness/stack/reset.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { letterInput, refusedLetter } from "../../processes/send-postal/inputs.js";
import { startReceiver } from "../../webhooks/receiver.js";
import type { Receiver } from "../../webhooks/receiver.js";

const secret = newSecret();
let receiver: Receiver;
let system: TestStack;
/** What a program hears that follows all processes from the beginning. */
const followed: Change[] = [];
let following: Promise<unknown>;

beforeAll(async () => {
  receiver = await startReceiver(secret);
  system = await startTestStack({
    sandboxSpeed: 10_000_000,
    env: {
      TRUSTFLOW_RELAY__EVENT_SECONDS: "1",
      TRUSTFLOW_WEBHOOKS__BILLING__URL: receiver.url,
      TRUSTFLOW_WEBHOOKS__BILLING__SECRET: secret,
      TRUSTFLOW_WEBHOOKS__BILLING__ALLOW_PRIVATE: "true",
    },
  });
  following = (async () => {
    for await (const change of system.client.changes({ intervalMs: 1_000 })) followed.push(change);
  })().catch((error: unknown) => error);
}, 120_000);
afterAll(async () => {
  await system?.close();
  await receiver.close();
}, 60_000);

const letter = (id: string, magic: string) => system.client.sendPostal(id, letterInput(id, magic));
const of = <T extends { data: object }>(events: T[], id: string) =>
  events.filter(({ data }) => (data as { id?: string }).id === id);
const heard = (id: string) => of(receiver.heard, id);
const about = (id: string) => ({ process: "sendPostal", id, runId: expect.any(String) });

test("a receiver hears that a letter has ended, with its outcome and nothing else", async () => {
  await (await letter("told", "delivered")).result();
  await eventually("an event", () => heard("told").length > 0);
  expect(heard("told")).toEqual([
    {
      id: expect.stringMatching(/^evt_[\w-]{32}$/),
      type: "process.ended",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { ...about("told"), outcome: "delivered" },
    },
  ]);
}, 60_000);

test("a decision that is needed is told, and after the decision the end, by its failure", async () => {
  const { client } = system;
  const input = refusedLetter.stopped(letterInput("asking", "delivered"), "asking");
  const handle = await client.sendPostal("asking", input);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  await eventually("the need", () => heard("asking").length === 1);
  const { id, kind, since } = attention!;
  expect(heard("asking")).toMatchObject([
    {
      type: "process.needsDecision",
      timestamp: since,
      data: { ...about("asking"), attention: { id, kind } },
    },
  ]);
  await handle.resolve({ attention: id, decision: "abandon", by: "Ana" });
  await eventually("the end", () => heard("asking").length === 2);
  expect(heard("asking")[1]).toMatchObject({
    type: "process.ended",
    data: { failure: "Abandoned" },
  });
}, 60_000);

test("a reset is no end, and a termination is one", async () => {
  const { client } = system;
  const handle = await letter("reset", "submit=slow-5000");
  const first = await statusWhere(handle, ({ environment }) => environment === "sandbox");
  expect(first.phase).toBe("submitting");
  const [task = null] = await eventually("a task", async () => {
    const tasks = await tasksOf(client, handle.workflowId);
    return tasks.length > 0 && tasks;
  });
  await reset(client, { workflowId: handle.workflowId }, task);
  const run = client.temporal.workflow.getHandle(handle.workflowId);
  const { runId } = await run.describe();
  await run.terminate("a test");
  await eventually("the end", () => heard("reset").length > 0);
  // Time for another look.
  await delay(3_000);
  expect(heard("reset")).toMatchObject([
    { data: { ...about("reset"), runId, failure: "Terminated" } },
  ]);
}, 60_000);

test("one who follows all processes hears the same, also one who comes later", async () => {
  const ids = () => followed.map(({ id }) => id);
  await eventually("all", () => receiver.heard.every(({ id }) => ids().includes(id)));
  expect(new Set(ids()).size).toBe(followed.length);
  for (const { cursor, ...change } of followed)
    expect([cursor, receiver.heard]).toEqual([
      expect.any(String),
      expect.arrayContaining([change]),
    ]);
  const late = new Set<string>();
  for await (const { id } of system.client.changes({ since: followed[0]?.cursor ?? "" })) {
    late.add(id);
    if (late.size === ids().length - 1) break;
  }
}, 60_000);

test("an operator lists, tests and replays deliveries", async () => {
  const { env } = system.stack;
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await commandLine(["webhooks", ...args, "--json"], { env });
    return { code, stderr, said: JSON.parse(stdout || "null") };
  };
  const { said: listed } = await run("list", "--state", "delivered", "--endpoint", "billing");
  const told = listed.find(({ event }: any) => event.data.id === "told");
  expect(told).toMatchObject({ event: heard("told")[0], attempts: [{ status: 204 }] });
  expect((await run("show", told.id)).said).toEqual(told);

  expect(await run("test", "billing")).toMatchObject({ code: 0, said: { status: 204 } });
  const test = receiver.heard.at(-1);
  expect(test).toMatchObject({ type: "webhook.test", data: { endpoint: "billing" } });
  receiver.answer(503);
  expect(await run("test", "billing")).toMatchObject({ code: 1, said: { status: 503 } });
  expect((await run("test", "bilings")).stderr).toContain("billing");
  receiver.answer(204);

  expect(await run("replay", told.id, "999")).toMatchObject({
    code: 1,
    said: { replayed: [told.id], notReplayed: ["999"] },
  });
  await eventually("it comes again", () => heard("told").length === 2);
  expect(heard("told")[1]).toEqual(heard("told")[0]);
}, 120_000);

test("closing the client ends the feed", async () => {
  await system.client.close();
  await expect(following).resolves.toBeUndefined();
});
