// A flood at a leaked callback address: a process at its limit of events ends as it would, and thousands of callbacks come to the
// address of one letter while others run. No outcome changes, the inbox stores no more than the quota, and no other process is affected
// (docs/decisions/0020).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultQuota } from "../../../src/contracts/shared/callback-quota.js";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import { addressOf } from "../../processes/send-postal/callbacks.js";
import { sendPostalUnderTest as letter } from "../../processes/send-postal/under-test.js";
import { historyLength, startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { send } from "./sender.js";
import { testMany } from "../cli/operators/many.js";

const POSTINGS = 5_000;
const LETTERS = 10;
let system: TestStack;

beforeAll(async () => {
  system = await startTestStack();
}, 120_000);
afterAll(() => system?.close(), 60_000);

describe("one command for many processes", () => testMany(() => system));

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** Larger than any event that the relay sends; every tenth claims the end. */
const worst = (from: number): ProviderEvent[] =>
  Array.from({ length: 100 }, (_, index) => ({
    id: `worst-${from + index}`,
    kind: index % 10 === 0 ? "Closed" : `${from + index}${"\u0001".repeat(90)}`,
    at: "2026-01-01T00:00:00.000Z",
    outcome: "\u0001".repeat(100),
    note: "\u0001".repeat(300),
  }));

test("a letter ends as it would, and fits, after a thousand of the largest events, each hundred with word of surplus", async () => {
  const operation = "evi-post.submit";
  const refusal = { operation, kind: "reject", status: 401, times: "always" } as const;
  const fault = await system.sandbox.addFault(refusal);
  const handle = await letter.start(system.client, "bound");
  await statusWhere(handle, ({ attention }) => attention !== undefined);
  const workflow = system.client.temporal.workflow.getHandle(handle.workflowId);
  for (let sent = 0; sent < 1_000; sent += 100) {
    await workflow.signal("providerEvents", worst(sent));
    await workflow.signal("surplus", { count: sent });
  }
  expect(bytesOf(await handle.status())).toBeLessThan(500_000);
  await system.sandbox.removeFault(fault.id);
  const result = await handle.result();
  expect(result.outcome).toBe(letter.outcome);
  expect(await system.effects(handle.id)).toEqual(letter.effects);
  expect(bytesOf(result)).toBeLessThan(500_000);
  expect(result.timeline.at(-1)?.event).toMatch(/more callbacks are not shown/);
  const { historySize = 0 } = await workflow.describe();
  expect(historySize).toBeLessThan(10_000_000);
  expect(await historyLength(system, handle.workflowId)).toBeLessThan(5_000);
}, 120_000);

async function letters(prefix: string): Promise<void> {
  const ids = Array.from({ length: LETTERS }, (_, index) => `${prefix}-${index}`);
  const handles = await Promise.all(ids.map((id) => letter.start(system.client, id)));
  for (const handle of handles) {
    expect((await handle.result()).outcome).toBe(letter.outcome);
    expect(await system.effects(handle.id)).toEqual(letter.effects);
  }
}

test("a flood at the address of one letter changes no outcome and stores no more than the quota; other letters run on", async () => {
  const flooded = await letter.start(system.client, "flooded");
  const url = addressOf(system, flooded.workflowId);
  const postings = Array.from({ length: POSTINGS }, (_, index) => ({
    url,
    body: JSON.stringify({
      Identifier: `flood-${index}`,
      Kind: index % 2 ? "Closed" : `Kind ${index}`,
      Date: "2026-01-01T00:00:00Z",
      AdditionalData: { Details: "\u0001".repeat(2_000), Outcome: "Rejected" },
    }),
    key: `flood-${index}`,
  }));
  const sending = send(postings, { connections: 64 });
  await letters("busy");
  await sending.done;
  expect(sending.answers).toEqual(new Set([204, 429]));

  const { outcome, timeline } = await flooded.result();
  expect(outcome).toBe(letter.outcome);
  expect(await system.effects(flooded.id)).toEqual(letter.effects);
  expect(bytesOf(timeline)).toBeLessThan(500_000);
  const { rows } = await system.pool.query<{ rows: number; bytes: number; told: number }>(
    `select count(*)::int as rows, sum(size)::int as bytes,
       count(*) filter (where state <> 'surplus')::int as told
     from trustflow.callbacks where workflow_id = 'sendPostal/flooded'`,
  );
  const [stored] = rows;
  expect(stored?.rows).toBeLessThanOrEqual(defaultQuota.rowsPerAddress);
  expect(stored?.bytes).toBeLessThanOrEqual(defaultQuota.bytesPerAddress);
  expect(stored?.told).toBe(defaultQuota.eventsPerProcess);
  const { rows: foreign } = await system.pool.query(
    `select 1 from trustflow.callbacks where workflow_id like 'sendPostal/busy-%' and state in ('surplus', 'parked')`,
  );
  expect(foreign).toEqual([]);
}, 300_000);
