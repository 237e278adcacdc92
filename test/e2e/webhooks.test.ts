// Webhooks end to end: a process of the whole system ends, and a receiver hears it; another one needs a decision.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newSecret } from "../../src/webhooks/signature.js";
import { eventually } from "../harness/outages/wait.js";
import { startTestStack } from "../harness/stack/stack.js";
import type { TestStack } from "../harness/stack/stack.js";
import { letterInput } from "../processes/send-postal/inputs.js";
import { startReceiver } from "../webhooks/receiver.js";
import type { Receiver } from "../webhooks/receiver.js";

const secret = newSecret();
let receiver: Receiver;
let system: TestStack;

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
}, 120_000);
afterAll(async () => {
  await system?.close();
  await receiver.close();
}, 60_000);

test("a receiver hears that a letter has ended, with its outcome", async () => {
  const handle = await system.client.sendPostal("told", letterInput("told", "delivered"));
  await handle.result();
  await eventually("an event", () => receiver.heard.length > 0);
  expect(receiver.heard).toEqual([
    {
      id: expect.stringMatching(/^evt_[\w-]{32}$/),
      type: "process.ended",
      timestamp: expect.any(String),
      data: { process: "sendPostal", id: "told", runId: expect.any(String), outcome: "delivered" },
    },
  ]);
}, 120_000);
