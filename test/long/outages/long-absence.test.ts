// A provider that is unavailable for longer than every backoff of the quick phase: the processes show it, do not fail, need
// no decision, and continue when it is back (docs/design.md §1, §6).
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ProcessHandle } from "../../../src/client.js";
import { startSkippingStack } from "../../harness/outages/time.js";
import type { SkippingStack } from "../../harness/outages/time.js";
import { eventually } from "../../harness/outages/wait.js";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";

type Handle = ProcessHandle<{ outcome: string }>;

const HOUR_MS = 3_600_000;
const stepMs = HOUR_MS / 3;
/** Much more than it takes: the worker's own clock, which some of it waits for, does not skip. */
const limit = { stepMs, mostMs: 240 * HOUR_MS };

let system: SkippingStack;

beforeAll(async () => {
  system = await startSkippingStack({
    // These two are measured on the worker's own clock, which does not skip.
    TRUSTFLOW_ATTENTION__PROBE_SECONDS: "1",
    TRUSTFLOW_ATTENTION__UNAVAILABLE_SECONDS: "1",
  });
}, 120_000);
afterAll(() => system?.close(), 60_000);

async function historyLengths(handles: Handle[]): Promise<number[]> {
  const histories = handles.map(({ workflowId }) =>
    system.client.temporal.workflow.getHandle(workflowId).fetchHistory(),
  );
  return (await Promise.all(histories)).map(({ events }) => events?.length ?? 0);
}

describe.each([sendPostalUnderTest])("$process", (underTest) => {
  const [effect] = underTest.calls;
  if (!effect) throw new Error("the process makes no call");
  const settings = { pollIntervalSeconds: 3_600, affidavitWindowSeconds: 3_600 };

  test("away for hours: before the send, after an answer that was lost, and while tracking", async () => {
    const start = (id: string, words = underTest.words) =>
      underTest.start(system.client, id, { words, input: { settings } });
    const phaseOf = async (handle: Handle) => (await handle.status()).phase;
    const attentionOf = async (handle: Handle) => (await handle.status()).attention;

    const tracked = await start("tracked");
    await eventually("tracking", async () => (await phaseOf(tracked)) === "tracking");
    system.sandbox().faults.add({
      operation: "evi-post.query",
      kind: "reject",
      status: 503,
      times: "always",
    });
    const lost = await start("lost", `${underTest.words},${effect.activity}=cut-after-commit`);
    const inLedger = () => system.sandbox().ledger().byIntent["lost"] !== undefined;
    await eventually("the effect", inLedger);
    await system.stopProvider();
    const unsent = await start("unsent");
    const handles = [tracked, lost, unsent];

    await system.pass(2 * HOUR_MS, stepMs);
    for (const handle of handles) {
      const attention = await system.passUntil(
        `attention of ${handle.id}`,
        () => attentionOf(handle),
        limit,
      );
      expect(attention.kind).toBe("unavailable");
    }
    const shown = await Promise.all(handles.map(attentionOf));
    const lengths = await historyLengths(handles);
    await system.pass(2 * HOUR_MS, stepMs);
    expect(await Promise.all(handles.map(attentionOf))).toEqual(shown);
    expect(await historyLengths(handles)).toEqual(lengths);
    expect(Math.max(...lengths)).toBeLessThan(40);

    await system.startProvider();
    system.sandbox().faults.clear();
    for (const handle of handles) {
      const goesOn = async () => {
        const { attention, phase } = await handle.status();
        return attention === undefined && phase === "tracking";
      };
      await system.passUntil(`${handle.id} goes on`, goesOn, limit);
    }
    for (const handle of handles) {
      const isOver = async () => !(await handle.isOpen());
      await system.passUntil(`${handle.id} ends`, isOver, { ...limit, stepMs: 12 * HOUR_MS });
      const result = await handle.result();
      expect(result.outcome).toBe(underTest.outcome);
      const { timeline } = result as unknown as { timeline: { source: string }[] };
      expect(timeline.filter(({ source }) => source === "person")).toEqual([]);
    }
    const { byIntent, duplicates } = system.sandbox().ledger();
    expect(byIntent).toEqual(Object.fromEntries(handles.map(({ id }) => [id, underTest.effects])));
    expect(duplicates).toEqual([]);
  }, 300_000);
});
