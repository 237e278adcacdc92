// The status in the memo says what the status query says, after each task of a process (docs/decisions/0035).
import { describe, expect, test } from "vitest";
import { condition } from "@temporalio/workflow";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { Flow } from "../../../src/workflows/runtime/flow.js";
import { plainView } from "../../../src/workflows/runtime/event-log.js";
import { sendMessage } from "../../../src/workflows/send-message/workflow.js";
import { decisions } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

const sent = { environment: "sandbox", account: "other" };

/** The newest memo says what a worker says; it has only the newest entries, and the number of the others. */
async function expectMemoIsStatus(run: WorkflowRun): Promise<void> {
  const { timeline: all, ...status } = await run.status();
  const { timeline = [], earlierEntries = 0, ...memo } = run.memos.at(-1) ?? {};
  expect(memo).toEqual(status);
  expect(timeline).toEqual(all.slice(-timeline.length));
  expect(earlierEntries).toBe(all.length - timeline.length);
}

describe("a message", () => {
  const start = () => WorkflowRun.start(() => sendMessage({} as never), decisions, "sendMessage");

  test("whose cancellation is requested before the first answer has a memo of each change of its status, and of its environment at the end", async () => {
    const run = await start();
    expect(run.memos).toEqual([]);
    await run.cancel();
    await expectMemoIsStatus(run);
    expect(run.memos.at(-1)?.attention?.id).toBe("send-1");
    await run.resolve("retry");
    await expectMemoIsStatus(run);
    expect(run.memos.at(-1)?.attention).toBeUndefined();
    await run.openCall("send").answer(sent);
    expect(run.result).toMatchObject({ outcome: "accepted" });
    await expectMemoIsStatus(run);
    expect(run.memos.at(-1)).toMatchObject({ ...sent, phase: "ended" });
  });

  test("has a memo of its failure", async () => {
    const run = await start();
    await run
      .openCall("send")
      .fail({ kind: "invalidRequest", fields: [{ path: "a", problem: "is no" }] });
    expect(run.failure?.type).toBe("NotAccepted");
    await expectMemoIsStatus(run);
  });
});

test.each([
  ["twenty that are short", "x".repeat(36), 20],
  ["as many as Temporal takes", "x".repeat(200), 9],
  ["none that Temporal does not take", "é".repeat(1_500), 0],
])("of its references a process can be found by %s", async (_, reference, count) => {
  const run = await WorkflowRun.start(async () => {
    const flow = new Flow(plainView);
    flow.status.references = Object.fromEntries(
      Array.from({ length: 21 }, (_none, index) => [`file-${index}`, reference]),
    );
    flow.status.publish();
  }, decisions);
  expect(run.references).toHaveLength(count);
});

/** A process that is tracked, and waits for nothing. */
async function tracked() {
  let flow!: Flow<never, ReturnType<typeof plainView>>;
  const end = { isOver: false };
  const run = await WorkflowRun.start(() => {
    flow = new Flow(plainView);
    flow.status.identify(sent);
    return flow.lifecycle.run({ main: () => condition(() => end.isOver), result: () => null });
  }, decisions);
  const hear = (...events: Partial<ProviderEvent>[]) =>
    run.signal(
      "providerEvents",
      events.map((event) => ({ kind: "Sent", at: "2026-02-01T00:00:00.000Z", ...event })),
    );
  const note = (event: string, more: object = {}) =>
    run.look(() => flow.log.add({ source: "process", event, ...more }));
  const shown = () => run.memos.at(-1)?.timeline.map(({ event }) => event);
  return { run, flow, hear, note, shown, end };
}

test("what a callback says about the reader is in the full status, and not in status and memo", async () => {
  const { run, hear } = await tracked();
  const about = { ipAddress: "192.0.2.1", userAgent: "Mozilla" };
  await hear({ id: "e-1", kind: "Read", about });
  await expectMemoIsStatus(run);
  expect(JSON.stringify([run.memos, await run.query("status")])).not.toMatch(/192|Mozilla/);
  const full = (await run.query("status", { full: true })) as ProcessStatus;
  const { reported, ...rest } = full;
  expect(reported).toEqual([{ at: "2026-02-01T00:00:00.000Z", kind: "Read", ...about }]);
  expect(rest).toEqual(await run.query("status"));
});

test("what changes nothing writes no memo, and neither does a query", async () => {
  const { run, flow, hear } = await tracked();
  await hear({ id: "e-1" });
  const before = run.memos.length;
  await hear({ id: "e-1" });
  await run.look(() => flow.status.refresh());
  await run.query("status");
  expect(run.memos).toHaveLength(before);
});

test("a late callback with an early date is among the newest entries, and all stand in order", async () => {
  const { run, hear, note, shown } = await tracked();
  for (let count = 1; count <= 6; count += 1) await note(`Own ${count}`);
  await hear({ id: "late", kind: "Late", at: "2020-01-01T00:00:00.000Z" });
  expect(shown()).toEqual(["Late", "Own 3", "Own 4", "Own 5", "Own 6"]);
  expect(run.memos.at(-1)?.earlierEntries).toBe(2);
  await note("Own 7");
  expect(shown()).toEqual(["Late", "Own 4", "Own 5", "Own 6", "Own 7"]);
});

test("a callback that the process does not keep counts among the earlier entries", async () => {
  const { run, flow, hear } = await tracked();
  await hear({ id: "e-1" });
  await run.look(() => flow.log.applySurplus(70));
  expect(run.memos.at(-1)?.earlierEntries).toBe(70);
});

describe("while the provider is asked for the end", () => {
  test("a callback alone writes no memo, an own entry does", async () => {
    const { run, flow, hear, note, shown } = await tracked();
    await run.look(() => flow.status.asking());
    const before = run.memos.length;
    await hear({ id: "e-1" });
    expect(run.memos).toHaveLength(before);
    await note("Affidavit on demand: requested");
    expect(shown()).toContain("Affidavit on demand: requested");
    await hear({ id: "e-2", kind: "Closed" });
    expect(shown()).not.toContain("Closed");
    await run.look(() => flow.status.asked());
    expect(shown()).toContain("Closed");
    await expectMemoIsStatus(run);
  });

  test("an attention makes callbacks write again: with it, an answer may take days", async () => {
    const { run, flow, hear, shown } = await tracked();
    await run.look(() => flow.status.asking());
    const step = { name: "ask", journaled: false };
    await run.look(() => flow.attentions.open({ step, kind: "unavailable", reason: "why" }));
    await hear({ id: "e-1", kind: "Closed" });
    expect(shown()).toContain("Closed");
  });
});

test("in the sandbox the entries of callbacks have the sandbox's clock, in status and memo; elsewhere none has", async () => {
  const { run, flow, hear, note } = await tracked();
  await note("Submitted");
  await hear({ id: "e-1" });
  const clocks = () =>
    Object.fromEntries(flow.status.current().timeline.map(({ source, clock }) => [source, clock]));
  expect(clocks()).toEqual({ process: undefined, callback: "sandbox" });
  const memo = run.memos.at(-1)?.timeline.find(({ source }) => source === "callback");
  expect(memo?.clock).toBe("sandbox");
  await run.look(() => flow.status.identify({ environment: "preproduction", account: "other" }));
  expect(clocks()).toEqual({ process: undefined, callback: undefined });
});
