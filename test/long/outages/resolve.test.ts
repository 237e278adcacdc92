// What a person decides, for one process or for many (docs/design.md §6): each decision moves the process on at once, and who
// decided, when and why stands in its timeline.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AbandonedError, InvalidInputError } from "../../../src/client.js";
import type { ProcessHandle } from "../../../src/client.js";
import type { Attention } from "../../../src/contracts/shared/status.js";
import { trustflow } from "../../cli/run.js";
import { startMany } from "../../harness/outages/many.js";
import { eventually } from "../../harness/outages/wait.js";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

type Handle = ProcessHandle<{ outcome: string }>;

interface Unknown {
  handle: Handle;
  attention: Attention;
  answerAgain(): Promise<unknown>;
}

const PROBE_SECONDS = 3;

let system: TestStack;

beforeAll(async () => {
  // No process tries again by itself within a test, so what moves was moved by a person.
  system = await startTestStack({
    sandboxSpeed: 240_000,
    env: {
      TRUSTFLOW_JOURNAL__LEASE_SECONDS: "4",
      TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__TIMEOUT_SECONDS: "3",
      TRUSTFLOW_ATTENTION__RETRY_SECONDS: "600",
      TRUSTFLOW_ATTENTION__PROBE_SECONDS: String(PROBE_SECONDS),
    },
  });
}, 120_000);
afterAll(() => system?.close(), 60_000);

/** The attention, once the patient phase has tried in vain as well: from then on only a person moves the process. */
async function waiting(handle: Handle, after?: Attention): Promise<Attention> {
  const workflow = system.client.temporal.workflow.getHandle(handle.workflowId);
  return eventually(`attention of ${handle.id}`, async () => {
    const { attention } = await handle.status();
    if (!attention || attention.id === after?.id) return undefined;
    const { pendingActivities } = (await workflow.describe()).raw;
    return pendingActivities?.some(({ attempt }) => Number(attempt) > 1) && attention;
  });
}

async function answers(operation: string, status: string): Promise<number> {
  return (await system.sandbox.requests()).total[operation]?.[status] ?? 0;
}

function resolveByCli(ids: string[], decision: string, ...more: string[]) {
  const options = ["--decision", decision, "--by", "Ada", "--note", "by the command line"];
  return trustflow(["resolve", ...ids, ...options, ...more, "--json"], { env: system.stack.env });
}

function answersOf(stdout: string): Record<string, string> {
  const all = JSON.parse(stdout) as { id: string; answer: string }[];
  return Object.fromEntries(all.map(({ id, answer }) => [id, answer]));
}

describe.each([sendPostalUnderTest])("$process", (underTest) => {
  const [effect] = underTest.calls;
  if (!effect) throw new Error("the process makes no call");
  const step = effect.activity;
  const denials = () => answers(effect.sandbox, "401");

  async function endsWell(handle: Handle, decision: string, note: string): Promise<void> {
    const result = await handle.result();
    expect(result.outcome).toBe(underTest.outcome);
    expect(await system.effects(handle.id)).toEqual(underTest.effects);
    const { timeline } = result as unknown as { timeline: object[] };
    expect(timeline).toContainEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      source: "person",
      event: `${decision}: ${step}`,
      by: "Ada",
      note,
    });
  }

  /** The effect's answer is lost, and the provider cannot be asked either. */
  async function startUnknown(id: string, lost: string): Promise<Unknown> {
    const before = await answers("evi-post.query", "400");
    const { id: fault } = await system.sandbox.addFault({
      operation: "evi-post.query",
      kind: "reject",
      status: 400,
      times: "always",
    });
    const words = `${underTest.words},${step}=${lost}`;
    const handle: Handle = await underTest.start(system.client, id, { words });
    const attention = await waiting(handle);
    // Asked when the answer was lost, and once more by the patient phase; then not for ten minutes.
    const asked = async () => (await answers("evi-post.query", "400")) >= before + 2;
    await eventually("the look-ups", asked);
    const answerAgain = () => system.sandbox.removeFault(fault);
    return { handle, attention, answerAgain };
  }

  test("retry asks the provider at once, however the circuit stands; one or many", async () => {
    await system.sandbox.putAccount("sandbox", { password: "changed" });
    const ids = ["retry-1", "retry-2", "retry-3"];
    const handles = await startMany(system, underTest, ids);
    const attentions = await Promise.all(handles.map((handle) => waiting(handle)));
    const [first, ...others] = handles;
    const [attention] = attentions;
    if (!first || !attention) throw new Error("nothing was started");
    expect(attention).toMatchObject({ kind: "accessDenied", decisions: ["retry", "abandon"] });

    const before = await denials();
    const decision = { attention: attention.id, decision: "retry", by: "Ada" } as const;
    await first.resolve({ ...decision, note: "too early" });
    const again = await waiting(first, attention);
    expect(await denials()).toBe(before + 1);
    const stale = first.resolve({ ...decision, note: "stale" });
    await expect(stale).rejects.toThrow(InvalidInputError);
    await expect(stale).rejects.toMatchObject({ fields: [{ path: "attention" }] });

    await system.sandbox.putAccount("sandbox", { password: "sandbox" });
    await first.resolve({ ...decision, attention: again.id, note: "mended" });
    await endsWell(first, "retry", "mended");
    for (const handle of others) expect((await handle.status()).attention).toBeDefined();

    const many = await resolveByCli(
      others.map(({ id }) => id),
      "retry",
    );
    expect([many.code, many.stderr]).toEqual([0, ""]);
    expect(Object.values(answersOf(many.stdout))).toEqual(["resolved", "resolved"]);
    for (const handle of others) await endsWell(handle, "retry", "by the command line");
  }, 60_000);

  test("many retries against a password that is still wrong share few calls", async () => {
    await system.sandbox.putAccount("sandbox", { password: "changed" });
    const ids = Array.from({ length: 15 }, (_, index) => `crowd-${index}`);
    const handles = await startMany(system, underTest, ids);
    const attentions = await Promise.all(handles.map((handle) => waiting(handle)));
    const [before, began] = [await denials(), Date.now()];
    await Promise.all(
      handles.map((handle, index) =>
        handle.resolve({
          attention: attentions[index]?.id ?? "",
          decision: "retry",
          by: "Ada",
        }),
      ),
    );
    await Promise.all(handles.map((handle, index) => waiting(handle, attentions[index])));
    const turns = (Date.now() - began) / ((PROBE_SECONDS / 3) * 1_000);
    expect((await denials()) - before).toBeGreaterThan(0);
    expect((await denials()) - before).toBeLessThanOrEqual(Math.ceil(turns) + 1);

    await system.sandbox.putAccount("sandbox", { password: "sandbox" });
    const [first, ...others] = handles;
    if (!first) throw new Error("nothing was started");
    const { id } = await waiting(first);
    await first.resolve({ attention: id, decision: "retry", by: "Ada", note: "mended" });
    await endsWell(first, "retry", "mended");

    const ended = await resolveByCli([...others.map(({ id }) => id), "nobody"], "abandon");
    expect(ended.code).toBe(3);
    const told = answersOf(ended.stdout);
    expect(others.map(({ workflowId }) => told[workflowId])).toEqual(others.map(() => "resolved"));
    for (const handle of others.slice(0, 3)) {
      await expect(handle.result()).rejects.toMatchObject({
        details: { effect: "none", by: "Ada", note: "by the command line" },
      });
    }
  }, 90_000);

  test("happened: the process goes on with what the person knows", async () => {
    const { handle, attention, answerAgain } = await startUnknown(
      "happened",
      "cut-after-commit,callbacks-lost",
    );
    expect(attention).toMatchObject({ step, decisions: ["retry", "happened", "abandon"] });
    const [item] = (await system.sandbox.items({ intent: handle.id })).items;
    await answerAgain();
    const result = underTest.happened(item?.id ?? "");
    const decided = await resolveByCli(
      ["happened"],
      "happened",
      "--result",
      JSON.stringify(result),
    );
    expect(JSON.parse(decided.stdout)).toMatchObject([{ answer: "resolved" }]);
    expect(decided.code).toBe(0);
    await endsWell(handle, "happened", "by the command line");
  }, 60_000);

  test("retry where nothing had happened sends once more, and once only", async () => {
    const { handle, attention, answerAgain } = await startUnknown("again", "cut");
    const { id } = attention;
    expect(await system.effects(handle.id)).toEqual({});
    await answerAgain();
    await handle.resolve({ attention: id, decision: "retry", by: "Ada", note: "nothing there" });
    await endsWell(handle, "retry", "nothing there");
  }, 60_000);

  test("abandon: the process fails, says what may exist, and a new start takes it up", async () => {
    const { handle, attention, answerAgain } = await startUnknown("abandoned", "cut-after-commit");
    const { id } = attention;
    await handle.resolve({ attention: id, decision: "abandon", by: "Ada", note: "enough" });
    const failed = handle.result();
    await expect(failed).rejects.toThrow(AbandonedError);
    await expect(failed).rejects.toMatchObject({
      details: { attention: id, effect: "unknown", by: "Ada", note: "enough" },
    });
    expect((await handle.status()).timeline).toContainEqual(
      expect.objectContaining({ source: "person", event: `abandon: ${step}`, by: "Ada" }),
    );
    await answerAgain();
    const words = `${underTest.words},${step}=cut-after-commit`;
    const next = await underTest.start(system.client, handle.id, { words });
    expect((await next.result()).outcome).toBe(underTest.outcome);
    expect(await system.effects(handle.id)).toEqual(underTest.effects);
  }, 60_000);
});
