// The provider refuses the account, or asks for patience, or its answer is lost: processes wait, visible, without a trace
// in their histories, and go on by themselves when the cause is gone (docs/design.md §1, §5, §6; docs/reading-the-specification.md §1, §9).
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ProcessHandle } from "../../../src/client.js";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { sealAnswer } from "../../../src/journal/answers.js";
import { Rows } from "../../../src/journal/rows.js";
import { effectToken } from "../../../src/journal/effect.js";
import type { RequestEntry } from "../../../packages/sandbox/src/engine/request-log.js";
import { startMany } from "../../harness/outages/many.js";
import { eventually } from "../../harness/outages/wait.js";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";
import { sealersOf } from "../../harness/stack/sealers.js";
import { historyLength, startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

type Handle = ProcessHandle<{ outcome: string }>;

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: 240_000 });
}, 120_000);
afterAll(() => system?.close(), 60_000);

async function attentionOf(handle: Handle): Promise<ProcessStatus["attention"]> {
  return (await handle.status()).attention;
}

function requests(): Promise<RequestEntry[]> {
  return system.sandbox.requests().then(({ newest }) => newest);
}

async function denials(status: number): Promise<number> {
  return (await requests()).filter((entry) => entry.status === status).length;
}

/** Waits through several probes: the same attention stands, and nothing is added to a history. */
async function waitsQuietly(handles: Handle[], status: number): Promise<void> {
  const attentions = await Promise.all(handles.map((handle) => attentionOf(handle)));
  const lengths = await Promise.all(
    handles.map(({ workflowId }) => historyLength(system, workflowId)),
  );
  const before = await denials(status);
  await eventually("probes", async () => (await denials(status)) >= before + 3);
  expect(await Promise.all(handles.map((handle) => attentionOf(handle)))).toEqual(attentions);
  expect(
    await Promise.all(handles.map(({ workflowId }) => historyLength(system, workflowId))),
  ).toEqual(lengths);
  expect(Math.max(...lengths)).toBeLessThan(40);
}

describe.each([sendPostalUnderTest])("$process", (underTest) => {
  const [effect] = underTest.calls;
  if (!effect) throw new Error("the process makes no call");

  async function endWell(handles: Handle[]): Promise<void> {
    for (const handle of handles) {
      expect((await handle.result()).outcome).toBe(underTest.outcome);
      expect(await system.effects(handle.id)).toEqual(underTest.effects);
    }
  }

  /** Those that go on; the last test sees them end. */
  const open: Handle[] = [];

  async function goOn(handles: Handle[]): Promise<void> {
    open.push(...handles);
    for (const handle of handles) {
      await eventually(`${handle.id} goes on`, async () => {
        const { phase, attention } = await handle.status();
        return phase !== "submitting" && !attention;
      });
    }
  }

  async function untilWaiting(handles: Handle[], step: string): Promise<void> {
    for (const handle of handles) {
      const attention = await eventually(`attention of ${handle.id}`, () => attentionOf(handle));
      expect(attention).toMatchObject({ kind: "accessDenied", step });
    }
  }

  test("an account that is not provisioned for a while: each denial is counted, and a look-up comes before the next send", async () => {
    await system.sandbox.putAccount("sandbox", { provisioned: false });
    const handles = await startMany(system, underTest, ["provisioned-1", "provisioned-2"]);
    await untilWaiting(handles, effect.activity);
    await waitsQuietly(handles, 403);
    await system.sandbox.putAccount("sandbox", { provisioned: true });
    await goOn(handles);

    const log = await requests();
    for (const { id, workflowId } of handles) {
      const { rows } = await system.pool.query<{ denied: number }>(
        "select denied from trustflow.effects where workflow_id = $1 and step = $2",
        [workflowId, effect.activity],
      );
      const denied = log.filter(({ intent, status }) => intent === id && status === 403).length;
      expect(rows).toEqual([{ denied }]);
    }
    const sent = log.findIndex(
      ({ operation, status }) => operation === effect.sandbox && status === 200,
    );
    const lookUps = log.slice(0, sent).filter(({ operation }) => operation === "evi-post.query");
    expect(lookUps.some(({ status }) => status === 200)).toBe(true);
  }, 60_000);

  test("a wrong password fixed after a while", async () => {
    const tracked = await underTest.start(system.client, "password-tracked", { words: "stalled" });
    await eventually("tracking", async () => (await tracked.status()).phase === "tracking");
    await system.sandbox.putAccount("sandbox", { password: "changed" });
    const handles = await startMany(system, underTest, ["password-1", "password-2", "password-3"]);
    await untilWaiting(handles, effect.activity);
    await untilWaiting([tracked], "ask");
    await waitsQuietly([...handles, tracked], 401);
    await system.sandbox.putAccount("sandbox", { password: "sandbox" });
    await goOn(handles);
    await eventually("no attention", async () => !(await attentionOf(tracked)));
    expect((await tracked.status()).phase).toBe("tracking");
    expect(await system.effects(tracked.id)).toEqual(underTest.effects);
    await system.client.temporal.workflow.getHandle(tracked.workflowId).terminate();
  }, 60_000);

  test("an empty balance stops what costs, and nothing else", async () => {
    await system.sandbox.setSpeed(120_000);
    const tracked = await underTest.start(system.client, "balance-tracked");
    await eventually("tracking", async () => (await tracked.status()).phase === "tracking");
    const { id } = await system.sandbox.addFault({
      operation: effect.sandbox,
      kind: "reject",
      status: 403,
      times: "always",
    });
    const waiting = await startMany(system, underTest, ["balance-1", "balance-2"]);
    await untilWaiting(waiting, effect.activity);
    await endWell([tracked]);
    await system.sandbox.setSpeed(240_000);
    expect((await tracked.status()).timeline.filter(({ source }) => source === "person")).toEqual(
      [],
    );
    await waitsQuietly(waiting, 403);
    await system.sandbox.removeFault(id);
    await goOn(waiting);
  }, 60_000);

  test("an answer that reaches the journal late ends the attention by itself", async () => {
    const { id: fault } = await system.sandbox.addFault({
      operation: "evi-post.query",
      kind: "reject",
      status: 400,
      times: "always",
    });
    const words = `${underTest.words},${effect.activity}=cut-after-commit`;
    const handle = await underTest.start(system.client, "late-answer", { words });
    const attention = await eventually("attention", () => attentionOf(handle));
    expect(attention).toMatchObject({ kind: "protocol", step: effect.activity });

    // As the first attempt would, had it only been slow.
    const [item] = (await system.sandbox.items({ intent: handle.id })).items;
    const namespace = system.stack.env["TEMPORAL_NAMESPACE"] ?? "";
    const sealer = await sealersOf(system).of({ namespace, workflowId: handle.workflowId });
    const token = effectToken(namespace, handle.workflowId, effect.activity, "0");
    const answer = underTest.happened(item?.id ?? "");
    expect(await new Rows(system.pool, 1).answer(token, sealAnswer(sealer, token, answer))).toBe(
      true,
    );
    await eventually("tracking", async () => (await handle.status()).phase === "tracking");

    await system.sandbox.removeFault(fault);
    await goOn([handle]);
  }, 60_000);

  test("429 with Retry-After: no call before that time, and no decision is needed", async () => {
    const seconds = 4;
    await system.sandbox.addFault({
      operation: effect.sandbox,
      kind: "reject",
      status: 429,
      retryAfterSeconds: seconds,
      times: 1,
    });
    const ofThis = async () =>
      (await requests()).filter(({ intent }) => intent?.startsWith("limited"));
    const first = await underTest.start(system.client, "limited-1");
    await eventually("the 429", async () => (await denials(429)) === 1);
    const others = await startMany(system, underTest, ["limited-2", "limited-3"]);
    await eventually("another call", async () => {
      for (const handle of [first, ...others]) expect(await attentionOf(handle)).toBeUndefined();
      return (await ofThis()).length > 1;
    });
    const [limited, next] = await ofThis();
    expect(limited?.status).toBe(429);
    const pause = Date.parse(next?.at ?? "") - Date.parse(limited?.at ?? "");
    expect(pause).toBeGreaterThanOrEqual(seconds * 1_000);
    expect(pause).toBeLessThan(seconds * 1_000 * 4);
    await goOn([first, ...others]);
  }, 60_000);

  test("after all of it, every process ends well, with one effect each, and no person was needed", async () => {
    expect(open).toHaveLength(11);
    await endWell(open);
    for (const handle of open) {
      const { timeline } = await handle.status();
      expect(timeline.filter(({ source }) => source === "person")).toEqual([]);
    }
    const { ledger } = await system.sandbox.state();
    expect(ledger).toMatchObject({ duplicates: 0, violations: 0 });
  }, 60_000);
});
