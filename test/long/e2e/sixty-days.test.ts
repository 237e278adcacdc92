// Sixty days of waiting and the whole callback schedule, in seconds: the time-skipping server moves Temporal's clock, the
// sandbox's manual clock moves the provider's (P2 §6.5).
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { sandboxControl } from "../../../packages/sandbox/src/control/client.js";
import { LONG_STEP_MS, startSkippingStack } from "../../harness/outages/time.js";
import type { SkippingStack } from "../../harness/outages/time.js";
import { statusWhere } from "../../harness/stack/stack.js";
import { letterInput } from "../../processes/send-postal/inputs.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let system: SkippingStack;

// What one test leaves behind could keep the clock of another from moving.
beforeEach(async () => {
  system = await startSkippingStack({
    // Measured on the worker's own clock, which does not skip.
    TRUSTFLOW_ATTENTION__PROBE_SECONDS: "1",
  });
}, 120_000);
afterEach(() => system?.close(), 60_000);

const slow = { settings: {}, options: { certificationLevel: "Advanced" } };

test("a letter delivered after sixty days ends as delivered, with or without callbacks", async () => {
  const { client } = system;
  const [heard, unheard] = await Promise.all([
    client.sendPostal("heard", letterInput("heard", "delivered-after-60-days", slow)),
    client.sendPostal(
      "unheard",
      letterInput("unheard", "delivered-after-60-days,callbacks-lost", slow),
    ),
  ]);
  for (const handle of [heard, unheard]) {
    await statusWhere(handle, ({ phase }) => phase === "tracking");
  }

  // For two days there is no answer: the first callback meets the whole schedule, and is dropped after its ninth retry.
  const control = sandboxControl(system.sandbox().url);
  await system.pass(3 * DAY_MS, HOUR_MS);
  const first = (await control.callbacks()).newest.filter(
    ({ kind, intent }) => kind === "Processed" && intent === "heard",
  );
  const attempts = first.toSorted((a, b) => a.attempt - b.attempt);
  const delays = attempts.map(
    ({ at }, index) => (Date.parse(at) - Date.parse(attempts[index - 1]?.at ?? at)) / 1_000,
  );
  expect(delays).toEqual([0, 30, 30, 300, 900, 1_800, 3_600, 18_000, 54_000, 108_000]);
  expect(attempts.map(({ result }) => result)).toEqual([...Array(9).fill("retrying"), "dropped"]);
  await system.startReceiver();

  await system.pass(58 * DAY_MS, LONG_STEP_MS);
  expect((await heard.status()).phase).toBe("tracking");
  for (const handle of [heard, unheard]) {
    const isOver = async () => !(await handle.isOpen());
    const limit = { stepMs: LONG_STEP_MS, mostMs: 12 * DAY_MS };
    await system.passUntil(`${handle.id} is over`, isOver, limit);
  }
  const results = await Promise.all([heard.result(), unheard.result()]);
  expect(results.map(({ outcome }) => outcome)).toEqual(["delivered", "delivered"]);
  const affidavits = results.map(({ documents }) =>
    documents.map(({ uniqueId, kind }) => [kind, uniqueId !== undefined]),
  );
  expect(affidavits[0]).toEqual(affidavits[1]);
  const events = results[0]?.timeline
    .filter(({ source }) => source === "callback")
    .map(({ event }) => event);
  expect(events).toEqual(expect.arrayContaining(["Delivered"]));
  expect(events).not.toContain("Processed");
  expect(results[1]?.timeline.some(({ source }) => source === "callback")).toBe(false);

  const { byIntent, duplicates } = await control.ledger();
  expect(byIntent).toMatchObject({
    heard: { "evi-post.submit": 1 },
    unheard: { "evi-post.submit": 1 },
  });
  expect(duplicates).toEqual([]);

  // Ten weeks of polling every six hours are retries by the server: they leave no events.
  const history = await client.temporal.workflow.getHandle(unheard.workflowId).fetchHistory();
  expect(history.events?.length).toBeLessThan(120);
}, 300_000);

test("an hour without an answer raises attention, and a person who knows that it happened moves it on", async () => {
  await system.startReceiver();
  const control = sandboxControl(system.sandbox().url);
  const { id: fault } = await control.addFault({
    operation: "evi-post.query",
    kind: "reject",
    status: 503,
    times: "always",
  });
  const handle = await system.client.sendPostal(
    "lost",
    letterInput("lost", "delivered,submit=cut-after-commit", slow),
  );
  const attentionOf = async () => (await handle.status()).attention;
  const attention = await system.passUntil("attention", attentionOf, {
    stepMs: HOUR_MS / 4,
    mostMs: 2 * HOUR_MS,
  });
  expect(attention).toMatchObject({
    kind: "unavailable",
    decisions: ["retry", "happened", "abandon"],
  });

  const [item] = (await control.items({ intent: "lost" })).items;
  const uniqueId = item?.id ?? "";
  const resolution = {
    attention: attention.id,
    decision: "happened",
    by: "Ada",
    result: { uniqueId },
  } as const;
  expect(await handle.resolve(resolution)).toEqual({ answer: "resolved" });
  const status = await statusWhere(handle, ({ phase }) => phase === "tracking");
  expect(status.references).toEqual({ uniqueId });
  expect(status.timeline).toContainEqual(expect.objectContaining({ source: "person", by: "Ada" }));

  await control.removeFault(fault);
  const isOver = async () => !(await handle.isOpen());
  await system.passUntil("the end", isOver, { stepMs: LONG_STEP_MS, mostMs: 20 * DAY_MS });
  expect((await handle.result()).outcome).toBe("delivered");
  expect((await control.ledger("lost")).byIntent).toEqual({ lost: { "evi-post.submit": 1 } });
}, 300_000);
