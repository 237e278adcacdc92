// A flood at the leaked address of a letter: it neither delays the poll nor stops the process from polling after its limit
// (docs/decisions/0020).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { setTimeout as delay } from "node:timers/promises";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import { addressOf, eventOf, post } from "../../processes/send-postal/callbacks.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

let system: TestStack;

beforeAll(async () => {
  const env = { TRUSTFLOW_CALLBACKS__EVENTS_PER_PROCESS: "30" };
  system = await startTestStack({ sandboxSpeed: 1, env });
}, 120_000);
afterAll(() => system?.close(), 60_000);

/** Its own callbacks are lost, so that only a question tells it anything. */
async function tracked(id: string, pollIntervalSeconds: number) {
  const settings = { pollIntervalSeconds, askIntervalSeconds: 1, affidavitWindowSeconds: 0 };
  const input = letterInput(id, "delivered,callbacks-lost", { settings });
  const handle = await system.client.sendPostal(id, input);
  const workflow = system.client.temporal.workflow.getHandle(handle.workflowId);
  await eventually("it is tracked", async () => {
    const { typedSearchAttributes } = await workflow.describe();
    return typedSearchAttributes.get(searchAttributes.phase) === "tracking";
  });
  return handle;
}

test("one callback after another, each before the poll is due, does not put the poll off", async () => {
  const handle = await tracked("dripped", 3);
  const url = addressOf(system, handle.workflowId);
  await system.sandbox.advance(90 * 86_400_000);
  let sent = 0;
  let isOver = false;
  const dripping = (async () => {
    for (; !isOver && sent < 60; sent += 1) {
      expect(await post(url, eventOf())).toBe(204);
      await delay(1_000);
    }
  })();
  const { outcome, timeline } = await handle.result();
  isOver = true;
  await dripping;
  expect(outcome).toBe("delivered");
  // It had its end from a question, while callbacks came, and before its fill was over.
  expect(timeline.some(({ source }) => source === "callback")).toBe(true);
  expect(sent).toBeLessThan(30);
}, 90_000);

test("after its fill a process is told that there is more, and asks at once: its poll is an hour off", async () => {
  const handle = await tracked("filled", 3_600);
  const url = addressOf(system, handle.workflowId);
  for (let sent = 0; sent < 30; sent += 1) expect(await post(url, eventOf())).toBe(204);
  await system.sandbox.advance(90 * 86_400_000);
  expect(await post(url, eventOf({ Kind: "Closed" }))).toBe(204);
  const { outcome, timeline } = await handle.result();
  expect(outcome).toBe("delivered");
  expect(timeline.filter(({ source }) => source === "callback")).toHaveLength(30);
  expect(timeline.at(-1)?.event).toMatch(/^1 more callbacks are not shown/);
  expect(await system.effects("filled")).toEqual({ "evi-post.submit": 1 });
}, 60_000);
