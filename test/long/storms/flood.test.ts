// A flood at a leaked callback address. Each process is at its limit of events, and twenty thousand callbacks come to the
// address of one letter while others run: no outcome changes, the inbox stores no more than the quota, and no other process
// is affected (docs/decisions/0020).
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessHandle } from "../../../src/client.js";
import type { ProviderEvent } from "../../../src/contracts/shared/provider-event.js";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { defaultQuota } from "../../../src/contracts/shared/callback-quota.js";
import { eventually } from "../../harness/outages/wait.js";
import { processesUnderTest } from "../../processes/index.js";
import { callerOf } from "../../processes/process-under-test.js";
import { sendPostalUnderTest } from "../../processes/send-postal/under-test.js";
import { sized } from "../../harness/stack/size.js";
import { historyLength, startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { Postings } from "../../harness/storms/postings.js";
import { send } from "../../harness/storms/sender.js";

type Handle = ProcessHandle<{ outcome: string; timeline: ProcessStatus["timeline"] }>;

let system: TestStack;

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

/** Until it has ended, with what persons have to do. */
async function ended(of: (typeof processesUnderTest)[number], handle: Handle) {
  const result = handle.result();
  let isOver = false;
  const over = () => (isOver = true);
  result.then(over, over);
  while (!isOver) {
    await of.play?.(handle, { sandboxUrl: system.stack.sandboxUrl, intent: handle.id });
    await Promise.race([result.catch(() => undefined), delay(200)]);
  }
  return result;
}

describe("at the bound", () => {
  // A letter moves on in seconds, and a person has minutes for a code.
  beforeAll(async () => {
    system = await startTestStack({ sandboxSpeed: "auto" });
  }, 120_000);
  afterAll(() => system?.close(), 60_000);

  test.each(processesUnderTest)(
    "$process ends as it would, and fits, after a thousand of the largest events, each hundred with word of surplus",
    async (of) => {
      const [first] = of.calls;
      if (!first) throw new Error("the process makes no call");
      const fault = await system.sandbox.addFault({
        operation: first.sandbox,
        kind: "reject",
        status: 401,
        times: "always",
      });
      const handle = (await of.start(system.client, `bound-${of.process.toLowerCase()}`)) as Handle;
      const caller = system.client.handle(callerOf(first, of.process, handle.id));
      await eventually("it needs an operator decision", () =>
        caller.status().then(
          ({ attention }) => attention,
          () => undefined,
        ),
      );
      const workflow = system.client.temporal.workflow.getHandle(handle.workflowId);
      for (let sent = 0; sent < 1_000; sent += 100) {
        await workflow.signal("providerEvents", worst(sent));
        await workflow.signal("surplus", { count: sent });
      }
      expect(bytesOf(await handle.status())).toBeLessThan(500_000);
      await system.sandbox.removeFault(fault.id);
      const result = await ended(of, handle);
      expect(result.outcome).toBe(of.outcome);
      expect(await system.effects(handle.id)).toEqual(of.effects);
      expect(bytesOf(result)).toBeLessThan(500_000);
      expect(result.timeline.at(-1)?.event).toMatch(/more callbacks are not shown/);
      const { historySize = 0 } = await workflow.describe();
      expect(historySize).toBeLessThan(10_000_000);
      expect(await historyLength(system, handle.workflowId)).toBeLessThan(5_000);
    },
    120_000,
  );
});

describe("through the receiver", () => {
  beforeAll(async () => {
    system = await startTestStack();
  }, 120_000);
  afterAll(() => system?.close(), 60_000);

  interface Round {
    outcomes: string[];
    seconds: number;
  }

  async function letters(prefix: string, count: number): Promise<Round> {
    const began = performance.now();
    const ids = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    const outcomes = await Promise.all(
      ids.map(async (id) => {
        const { outcome } = await (await sendPostalUnderTest.start(system.client, id)).result();
        return outcome;
      }),
    );
    for (const id of ids) expect(await system.effects(id)).toEqual(sendPostalUnderTest.effects);
    const seconds = (performance.now() - began) / 1_000;
    return { outcomes, seconds };
  }

  test("a flood at the address of one letter changes no outcome and stores no more than the quota; other letters run on", async () => {
    const count = sized(20_000, 5_000);
    const others = sized(40, 10);
    const quiet = await letters("quiet", others);

    const flooded = await sendPostalUnderTest.start(system.client, "flooded");
    const url = new Postings(system, sendPostalUnderTest).url("flooded");
    const postings = Array.from({ length: count }, (_, index) => ({
      kind: "genuine" as const,
      url,
      body: JSON.stringify({
        Identifier: `flood-${index}`,
        Kind: index % 2 ? "Closed" : `Kind ${index}`,
        Date: "2026-01-01T00:00:00Z",
        AdditionalData: { Details: "\u0001".repeat(2_000), Outcome: "Rejected" },
      }),
      key: `flood-${index}`,
    }));
    const began = performance.now();
    const sending = send(postings, { connections: 64, limitMs: 120_000 });
    const busy = await letters("busy", others);
    await sending.done;
    const floodSeconds = (performance.now() - began) / 1_000;

    expect((await flooded.result()).outcome).toBe(sendPostalUnderTest.outcome);
    expect(await system.effects("flooded")).toEqual(sendPostalUnderTest.effects);
    expect(new Set([...quiet.outcomes, ...busy.outcomes])).toEqual(
      new Set([sendPostalUnderTest.outcome]),
    );
    const answers = sending.answers.genuine;
    expect(Object.keys(answers).toSorted()).toEqual(["204", "429"]);

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
    const { timeline } = await flooded.result();
    expect(bytesOf(timeline)).toBeLessThan(500_000);
    const report = {
      count,
      answers,
      stored,
      floodSeconds,
      quiet: quiet.seconds,
      busy: busy.seconds,
    };
    process.stdout.write(`flood: ${JSON.stringify(report)}\n`);
  }, 300_000);
});
